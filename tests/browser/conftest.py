"""A headless Chromium. Where there is none these tests are skipped, but not in CI, where nobody would notice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "no Chromium with its driver on the PATH (Debian: apt-get install chromium chromium-driver)"
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1300,1000",
)  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if not browser or not driver:
        required = os.environ.get("REQUIRE_BROWSER")
        (pytest.fail if required else pytest.skip)(MISSING)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options, Service(driver))
    try:
        yield opened
    finally:
        opened.quit()
