"""The HTML report in a browser: filters, search, unfolding, keys, both colour schemes, and names that mean harm."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

SESSIONS = """\
    def close_all(sessions: dict) -> None:
        for name in sessions:
            del sessions[name]
"""
POOL = """\
    import threading


    class ConnectionPoolOfTheControllerThatWatchesEveryEndpoint:
        def __init__(self):
            self._lock = threading.Lock()
            self.hosts = {}
            self.alive = False

        def start(self):
            threading.Thread(target=self._poll).start()

        def _poll(self):
            while True:
                with self._lock:
                    self._refresh()

        def _refresh(self):
            self.hosts["</script><script>document.title = 'hacked'</script>"] = object()  # "quoted" & <b>

        def names(self):
            return [name.upper() for name in self.hosts]
"""
HOSTILE = "lib/<img src=x onerror='document.title=`hacked`'>.py"
FILES = {"app/sessions.py": SESSIONS, HOSTILE: SESSIONS, "app/pool.py": POOL, "broken.py": "def (:\n"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report as the command line writes it."""
    root = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text), "utf-8")
    command = [sys.executable, "-m", "racelint", "check", "-q", "--no-cache", "--format", "html", "--output", "r.html"]
    assert subprocess.run([*command, "--min-severity", "note"], cwd=root, check=False).returncode == 1
    return root / "r.html"


class Page:
    """The report, opened afresh; nothing may have gone wrong when the test is over."""

    def __init__(self, driver: webdriver.Chrome, report: Path) -> None:
        self.driver = driver
        self.address = report.as_uri()
        self.show()

    def show(self, anchor: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(self.address + anchor)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def paths(self) -> list[str]:
        """The files of the findings in sight."""
        return [card.get_attribute("data-path") or "" for card in self.all(".finding") if card.is_displayed()]

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def wait(self, condition: Callable[[], object]) -> None:
        WebDriverWait(self.driver, 5, 0.02).until(lambda _: condition())

    def run(self, script: str) -> object:
        return self.driver.execute_script(script)

    def emulate(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def width(self, pixels: int) -> None:
        metrics = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture
def page(chromium: webdriver.Chrome, report: Path) -> Iterator[Page]:
    page = Page(chromium, report)
    page.run("localStorage.clear()")
    page.width(1300)
    page.emulate("light")
    page.show()
    yield page
    assert page.driver.title != "hacked"
    assert chromium.get_log("browser") == []  # neither a script error nor a breach of the policy
    assert page.run("return performance.getEntriesByType('resource').length") == 0


ALL = ["app/pool.py", "app/sessions.py", HOSTILE]


def test_all_findings_are_there_and_the_first_is_open(page: Page) -> None:
    assert page.paths() == ALL
    assert page.one("#shown").text == "3 findings"
    assert [card.get_attribute("open") for card in page.all(".finding")] == ["true", None, None]
    assert page.one(".errors").text.splitlines()[0] == "Not analysed: 1 file"


def test_names_and_sources_that_mean_harm_are_text(page: Page) -> None:
    page.one("#unfold").click()
    assert "</script><script>document.title = 'hacked'</script>" in page.all("pre.src")[1].text
    assert page.all(".finding img") == []
    assert [heading.text for heading in page.all(".file h2 b")][2].startswith("<img src=x onerror=")


def test_severity_hides_the_others_and_counts_follow(page: Page) -> None:
    page.one("input[value=mutated-while-iterating]").click()
    page.wait(lambda: page.paths() == ALL[1:])
    assert page.one("#shown").text == "2 of 3 findings"
    counts = {box.get_attribute("value"): box.get_attribute("data-count") for box in page.all("[name=folder]")}
    assert counts == {"app/": "1", "lib/": "1"}
    page.one("input[value='lib/']").click()
    page.wait(lambda: page.paths() == [HOSTILE])
    page.one(".clear").click()
    page.wait(lambda: page.paths() == ALL)


def test_search_and_path_narrow_down(page: Page) -> None:
    page.press("/")
    assert page.driver.switch_to.active_element.get_attribute("name") == "q"
    page.press("POOL hosts")
    page.wait(lambda: page.paths() == ["app/pool.py"])
    page.press(" nowhere")
    page.wait(lambda: page.one("#none").is_displayed())
    assert page.one("#shown").text == "0 of 3 findings"
    page.one(".clear").click()
    page.one("#path").send_keys("app/**/s*.py")
    page.wait(lambda: page.paths() == ["app/sessions.py"])


def test_a_finding_unfolds_by_click_and_by_keys(page: Page) -> None:
    second = page.all(".finding")[1]
    body = second.find_element(By.CSS_SELECTOR, ".body")
    assert not body.is_displayed()
    second.find_element(By.TAG_NAME, "summary").click()
    assert body.is_displayed()
    page.press(Keys.SPACE)
    assert not body.is_displayed()
    page.press(Keys.ENTER)
    assert body.is_displayed()


def test_keys_move_between_the_findings_in_sight(page: Page) -> None:
    def focused() -> str | None:
        return page.driver.switch_to.active_element.find_element(By.XPATH, "..").get_attribute("data-path")

    page.press("j")
    assert focused() == ALL[0]
    outline = page.driver.switch_to.active_element.value_of_css_property("outline-style")
    assert outline == "solid"
    page.press("jj")
    assert focused() == ALL[2]
    page.press("j")
    assert focused() == ALL[2]
    page.press("k")
    assert focused() == ALL[1]
    page.press("e")
    assert [card.get_attribute("open") for card in page.all(".finding")] == ["true"] * 3
    page.press("e")
    assert [card.get_attribute("open") for card in page.all(".finding")] == [None] * 3
    page.press("?")
    assert page.one("#keys").is_displayed()
    page.press(Keys.ESCAPE)
    assert not page.one("#keys").is_displayed()


def test_the_theme_follows_the_system_until_it_is_chosen(page: Page) -> None:
    def paper() -> str:
        return page.one("body").value_of_css_property("background-color")

    light = paper()
    page.emulate("dark")
    dark = paper()
    assert dark != light
    page.one("#theme").click()
    assert (paper(), page.one("#theme").get_attribute("aria-pressed")) == (light, "false")
    page.show()
    assert paper() == light  # it is remembered
    page.press("t")
    assert paper() == dark


def test_the_lanes_stand_side_by_side_with_the_accesses_on_one_line(page: Page) -> None:
    first, second = page.all(".finding[open] .lane")
    assert first.location["y"] == second.location["y"]
    assert first.location["x"] + first.size["width"] < second.location["x"]
    accesses = page.all(".finding[open] .access")
    assert len({access.location["y"] for access in accesses}) == 1
    clash = page.one(".finding[open] .clash")
    assert "No common lock" in clash.text.splitlines()
    top, bottom = accesses[0].location["y"], accesses[0].location["y"] + accesses[0].size["height"]
    assert top < clash.location["y"] + clash.size["height"] / 2 < bottom


def test_a_band_runs_without_a_gap_from_where_the_lock_is_held(page: Page) -> None:
    bands = page.all(".finding[open] .band")
    assert len(bands) == 2  # at the call under the lock, and at the access that it leads to
    assert abs(bands[0].rect["y"] + bands[0].rect["height"] - bands[1].rect["y"]) < 1
    assert bands[0].value_of_css_property("background-color") == bands[1].value_of_css_property("background-color")


def test_it_fits_a_narrow_screen(page: Page) -> None:
    page.width(400)
    page.show()
    assert not page.one("#filters").is_displayed()
    page.one("#unfold").click()
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    first, second = page.all(".finding")[0].find_elements(By.CSS_SELECTOR, ".lane")
    assert first.location["y"] + first.size["height"] < second.location["y"]
    page.one("#side > summary").click()
    assert page.one("#filters").is_displayed()


def test_the_manual_page_of_a_rule_opens_on_demand(page: Page) -> None:
    page.one(".finding[open] a.page").click()
    dialog = page.one("#manual")
    assert dialog.text.splitlines()[0] in ("unlocked-shared-write", "inconsistent-lock", "\N{MULTIPLICATION SIGN}")
    assert "What it finds" in dialog.text
    dialog.find_element(By.CSS_SELECTOR, ".close").click()
    assert not dialog.is_displayed()


def test_the_address_keeps_filters_and_leads_to_a_finding(page: Page) -> None:
    page.one("input[value='lib/']").click()
    page.wait(lambda: page.run("return location.hash") == "#folder=lib%2F")
    page.show("#folder=lib%2F")
    assert page.paths() == [HOSTILE]
    mark = page.all(".finding")[1].get_attribute("id")
    page.show(f"#{mark}")
    assert page.paths() == ALL
    assert page.all(".finding")[1].get_attribute("open")


def test_print_shows_what_is_folded_away(page: Page) -> None:
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert len(page.all(".finding[open]")) == 3
    page.run("dispatchEvent(new Event('afterprint'))")
    assert len(page.all(".finding[open]")) == 1


def test_it_reads_without_javascript(page: Page) -> None:
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.show()
        assert page.paths() == ALL
        assert not page.one("#filters").is_displayed()
        page.all(".finding > summary")[1].click()
        assert page.all(".finding .body")[1].is_displayed()
    finally:
        page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        page.show()
