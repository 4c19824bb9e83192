"""The rule mutated-cache-object."""

from collections.abc import Iterator

from racelint.api import Access, CacheMutation, Confidence, Finding, Location, Program, Remedy, Severity, Step, rule

MOST_STEPS = 4
MOST_OTHERS = 6  # changes of the same object that are told besides
MOST_GUESSED_STEPS = 2  # likewise, if a callee was found by its name alone
SHARED = {
    "library": "{origin} hands out the cache's own object",
    "memo": "{origin} remembers its result: all its callers get this one object",
    "handler": "{origin} registered this function: it is given the cache's own objects",
    "mirror": "{origin} holds a copy of what is elsewhere, for all who read it",
    "cache": "{origin} gives every reader the same object",
    "lazy": "{origin} is computed once and given to all who ask",
    "option": "{origin} is a setting, given to all who read it",
    "setting": "{origin} holds the settings of all",
    "default": "{origin} is a preset: whoever reads it next gets what was changed here",
    "chosen": "{origin} is one object for all who take it",
    "half": "{origin} is copied to be changed, and the copy shares with it what it refers to",
    "sibling": "others take a copy of {origin} before they change it",
    "argument": "the default of {origin} is made once: all calls without that argument share it",
    "state": "{origin} is copied to be changed, and the copy shares what lies deeper with it",
    "part": "an entry of {origin} is copied to be changed, and the copy shares what lies deeper with it",
    "live": "{origin} is the object's own state, not a copy of it",
}
MIRRORED = {"library", "mirror"}  # what is asked for has more readers, and the truth is elsewhere
HARMLESS = {"cache", "setting", "state"}
NAMED = {
    "memo",
    "mirror",
    "cache",
    "lazy",
    "option",
    "setting",
    "default",
    "chosen",
    "live",
    "sibling",
}  # by a name for all
HARM = {
    "argument": "the next call without that argument finds what this one has left there",
    "state": "what was to be a copy changes the original",
    "half": "what was to be a copy changes the original",
    "part": "what was to be a copy changes the original",
    "sibling": "what was meant for this one stays there for all that follow",
    "chosen": "whoever takes it next gets what was changed for this one",
    "setting": "the next one who reads the setting gets what was meant for this one",
    "option": "the next one who reads the setting gets what was meant for this one",
    "default": "the next one who starts from the preset gets what was meant for this one",
    "live": "everything that reads that object's attributes sees the change",
}
STALE = (
    "other readers see a change that was never made elsewhere, in the middle of it, and it is lost at the next refresh"
)
LASTING = "the next caller gets what was changed for this one"


@rule(languages=("python", "go"), since="0.3")
def mutated_cache_object(program: Program) -> Iterator[Finding]:
    """An object that belongs to a cache is changed in place, and whoever else holds it sees the change.

    ## What it finds

    A change of an object that came out of an informer, a lister, a class that mirrors what a watch tells, a cache, a
    function that remembers its results (`functools.lru_cache` and decorators like it), a setting or a preset: an item
    or attribute that is given another value, `del`, `append`, `update`, `sort`, `setdefault`. It is followed through
    variables, loops, fields, containers and calls, also to a helper in another file that changes what it is given; in
    Go also to whoever takes it out of a field, a map, a channel or a queue into which only such objects are put. Go's
    caches are what client-go's listers, indexers and stores return, what their event handlers and index functions are
    given, what controller-runtime gives to predicates and map functions and, with `UnsafeDisableDeepCopy`, to its
    clients.

    ## Why it is a bug

    There is one object, and others read it: the change shows up in places that know nothing of it, half done if they
    run beside this code, and a watch overwrites it without a word. An object that was read from a cache to send an
    update is to be copied first.

    ## Example

        class Annotator:
            def annotate(self, name):
                service = self.lister.get(name)
                service["metadata"]["annotations"]["seen"] = "yes"     # every reader of the lister sees it
                self.client.update(service)

    Use instead:

        def annotate(self, name):
            service = copy.deepcopy(self.lister.get(name))
            service["metadata"]["annotations"]["seen"] = "yes"
            self.client.update(service)

    In Go:

        func (c *Controller) mark(name string) error {
            node, err := c.nodeLister.Get(name)
            if err != nil {
                return err
            }
            node.Annotations["seen"] = "yes"                           // two workers: concurrent map writes
            return c.update(node)
        }

    Use instead:

        func (c *Controller) mark(name string) error {
            cached, err := c.nodeLister.Get(name)
            if err != nil {
                return err
            }
            node := cached.DeepCopy()
            node.Annotations["seen"] = "yes"
            return c.update(node)
        }

    ## How it decides

    The finding stands in the function that got hold of the object: at the change, or at the call that leads to it. Of
    one source and function the first change is told, the others are listed, as are the other functions that hand the
    same source to the line that makes the change.

    ### Copies

    A copy protects as deep as it goes: `dict(x)`, `x.copy()`, `{**x}`, `list(x)`, `x[:]`, `copy.copy(x)` the top level,
    `copy.deepcopy(x)` all of it; a nested part that is replaced by a new one (`x["metadata"] = {...}`) is this
    function's own. In Go `x := *cached` and `for _, x := range list.Items` copy what the struct itself holds: its plain
    fields are the function's own, its maps, slices and pointers are shared; `DeepCopy()` and decoding copy all of it. A
    list that a lister returns is a new one: sorting or cutting it is fine, changing what is in it is not.

    ### What is shared

    - what the methods of a library's cache return; what is given to functions that were registered with
      `add_event_handler`; results of remembering functions, if they are containers;
    - entries of a class that follows changes (it calls something named `watch`) or goes by the name of a cache and is
      filled from outside, for everybody but that class; values computed once and kept under a cache's name;
    - settings (`traitlets` with `config=True`, `oslo.config`), presets (constants in capitals), if they are changed
      under another name than their own; `__dict__` of a shared object, if another function has asked for it;
    - what a function gives that looks into a cache first and puts there what it has fetched, under the same key, if
      parts of it are taken out (who completes it, or keeps it up to date, mostly means to);
    - a parameter's default that is a list or dict; a mapping of an object or module that is copied to be changed, and
      changed deeper than the copy goes;
    - what a function changes by a variable that has an object's field, or a module's variable, and then makes use of,
      if other functions take a copy of that before they change it (`headers = self.headers.copy()`), unless the
      object's constructor calls it;
    - an entry of what a function is given, if it is copied to be changed, and changed deeper than the copy goes;
    - in Go a parameter's struct that is copied to be changed likewise (unless all callers put the result in the place
      of what they gave: `config = config.Merge(other)`, or give what they have made for that and do not name it again),
      and a variable's object that a function takes as one of several and changes while nobody changes it by its name.

    Silent: changes that the cache's own class makes, or the class that holds the cache and has made all containers in
    it; methods of unknown classes whose result is used (`schema = schema.insert(0, field)`); registries, pools and
    other containers of objects with a life of their own; memos that begin empty (`return {}`): a place to keep things;
    what the one object of a remembering function without parameters does to itself, if its class does more than that
    (`settings()["font"] = name` saves, too), what is taken out of it, changed and given back to it to be saved by one
    function (`fonts[name] = font; settings().set("fonts", fonts)`), and what is saved after the change, by a method of
    what the remembering function gives (`settings().save()`), or by the object whose method remembers it, which
    changes it itself (`self.session()["page"] = page; self.save_state()`); remembered views of an object's own state,
    and parts of it, for its class;
    constants that functions of the program change by their name (`SETTINGS[key] = value`: a state), tables of constants
    with empty entries, and what is put into tables, or tables in them, that are no defaults by their name; defaults of
    parameters in which nothing can be left, or that all calls in the repository override; what handlers of deletions
    are given in Go, and client-go's stores that the program makes (`cache.NewIndexer()`), gives to nobody else and
    fills with its own.

    ### Severity

    An error is a change to what a library's cache, or a class that mirrors what a watch tells, hands out on request:
    others ask for it, too, and the truth is elsewhere. All else is a warning: what a handler is given has no other
    reader in some programs, and a memo, preset or default is now and then meant to be changed. So is a value that is
    only given to what has none (`if x.Port == 0 { x.Port = 80 }`): the next one finds it done.

    ### Confidence

    High for library caches, handlers, mirrors of a watch and remembering functions, medium for declared settings, an
    object's own state, presets that grow, and where a callee was found by its name. Low (hidden) over more than three
    calls; where only the type of the object is put down (`x.SetGroupVersionKind(...)`), the same by everybody; where an
    entry is only put right, as everybody would do it (`if d[k] is None: d[k] = []`), what the next statement after the
    call overwrites, where no other call has the same arguments (other constants, or another number: all who get this
    object put the same entry there), or a constant of a list put to one of its ends (`x.remove("id")`, `x.insert(0,
    "id")`), or a list sorted that was found not to be sorted (`if x != sorted(x)`, `if !sort.StringsAreSorted(x)`);
    where a program comes to a preset, a setting, a default or what it takes as one of several once, on its way from
    where it starts or from the command that its command line asks for (`@click.command()`); where a function makes an
    informer that does not resync, lets nobody else have it or its store, and registers one handler, which looks at
    nothing of what an object was before but which one it is; where a field gets what the server has accepted before
    (`updated, err := client.Update(ctx, wanted)`, `cached.Spec = updated.Spec` if that has not failed), or the object
    then goes back into a store; and where experience says that mostly nobody is harmed: what an object remembers of
    itself (`cached_property`: who has the object means it; of nine such reports none was right), what a decorator of
    the project remembers that may read it anew from a text each time (`json.loads`), a parameter's default (of 13 such
    reports three were right, and ruff's B006 and pylint's W0102 find what is written so), a preset that does not grow
    (an entry under one key: most calls put the same there), what is computed once and changed without a copy, and in
    Python what is a cache only by its name, `oslo.config` (often one process a job), shallow copies of the program's
    own state, in Go also of what a function is given (of 12 such reports one was right; of parts of a cluster's
    resources, `meta := pod.ObjectMeta`, medium), and what a function does of which no code of the repository speaks (of
    one that is private by its name no code but tests), in Go what a function does that only its package could call and
    nothing there names, what a method does of a type, in a package that the repository's programs use, that only such
    functions speak of, and what their functions do to the objects of a cache of such a type, of which they make none.

    ## Known limits

    Objects are followed through fields of objects as far as the analysis knows their classes. What a getter hands out
    live is reported where it is changed, not where it is handed out. Of two mappings that are merged, an entry may be
    from either. Of Go types whose declaration is not among the files nobody knows whether a field is a struct or a
    pointer: `x := obj.Spec; x.Replicas = n` counts as a change of a copy. A result that says whether an object was
    found is not tied to the object. A caller in another project that changes what a cache of this one returns is not
    seen.
    """
    told: dict[tuple[str, str, str, str], list[CacheMutation]] = {}
    for mutation in program.cache_mutations():
        key = (mutation.kind, mutation.origin, mutation.location.path, mutation.function)
        told.setdefault(key, []).append(mutation)
    groups = [sorted(mutations, key=_order) for mutations in told.values()]  # the surest, the first in the text
    callers: dict[tuple[str, str, Location], list[CacheMutation]] = {}
    places: dict[tuple[str, Location, Location], list[CacheMutation]] = {}
    for group in sorted(groups, key=lambda group: -_confidence(group[0])):
        first = group[0]
        alike = callers.setdefault(_source(first), [])
        alike.append(first)
        if len(alike) == 1:  # one finding a source and line that makes the change, and one a place
            places.setdefault((first.kind, first.location, first.steps[-1].location), group)
    for first, *others in places.values():
        yield _finding(first, others, callers[_source(first)])


def _source(mutation: CacheMutation) -> tuple[str, str, Location]:
    """What makes a change of one source; of what has no name in the program each function has its own.

    A helper that changes the presets it is given does so with all of them.
    """
    origin = mutation.origin if mutation.kind in NAMED else f"{mutation.location.path}:{mutation.function}"
    if mutation.kind == "default" and len(mutation.steps) > 1:
        origin = ""
    return mutation.kind, origin, mutation.steps[-1].location


def _order(mutation: CacheMutation) -> tuple[int, bool, int, int]:
    span = mutation.location.span
    return -_confidence(mutation), mutation.fills, span.line, span.column


def _confidence(mutation: CacheMutation) -> Confidence:
    if mutation.settled or mutation.once or mutation.unread or mutation.forgotten or mutation.accepted:
        return Confidence.LOW
    if _is_mostly_harmless(mutation):
        return Confidence.LOW
    if mutation.far > (MOST_STEPS if mutation.certain else MOST_GUESSED_STEPS):
        return Confidence.LOW
    return (
        Confidence.HIGH
        if mutation.certain and mutation.kind in ("library", "memo", "handler", "mirror")
        else Confidence.MEDIUM
    )


def _is_mostly_harmless(mutation: CacheMutation) -> bool:
    """Whether such a change mostly leaves what everybody would leave there, or what nobody looks at."""
    match mutation.kind:
        case "argument":
            return True  # mostly meant, never left out, or in what nobody calls
        case "default":
            return not mutation.grows
        case "memo":
            return mutation.of_object or mutation.unsure
        case "lazy":
            return not mutation.copied  # a copy says that it was not to be changed
        case "half":
            return mutation.own  # mostly nobody looks at the original again
        case _:
            return mutation.kind in HARMLESS and not mutation.typed


def _finding(mutation: CacheMutation, others: list[CacheMutation], callers: list[CacheMutation]) -> Finding:
    last = mutation.steps[-1]
    through = "" if len(mutation.steps) == 1 else f", through {last.function}"
    shared = SHARED[mutation.kind].format(origin=mutation.origin)
    if mutation.handler:
        shared = f"{mutation.origin} registered {mutation.handler}, which hands on the cache's own objects"
    behind = f" (of {mutation.inner})" if mutation.inner not in ("", mutation.origin) else ""
    readers = f"; {', '.join(mutation.readers)} read it too" if mutation.readers else ""
    shallow = "; the copy on the way does not reach so deep" if mutation.copied else ""
    return Finding(
        rule="mutated-cache-object",
        severity=Severity.ERROR if mutation.kind in MIRRORED and not mutation.fills else Severity.WARNING,
        confidence=_confidence(mutation),
        location=mutation.location,
        message=f"{_changed(mutation)} is changed in place ({last.note}){through}",
        symbol=mutation.symbol,
        function=mutation.function,
        accesses=(*_accesses(mutation, last), *_others(mutation, others), *_callers(mutation, callers)),
        because=f"{shared}{behind}{readers}{shallow}",
        harm=HARM.get(mutation.kind, LASTING if mutation.kind in ("memo", "lazy", "cache") else STALE),
        mend=_mend(mutation),
        remedy=_remedy(mutation),
    )


def _remedy(mutation: CacheMutation) -> Remedy | None:
    """A deep copy, safe where what is shared is data for sure; in Go only objects of libraries' caches have one."""
    if mutation.kind in ("argument", "chosen", "half", "part") or not mutation.can_deep_copy:
        return None
    came = mutation.came
    here = came is not None and came.path == mutation.location.path and mutation.kind != "handler"
    places = (came, mutation.location) if came is not None and here else (mutation.location,)
    return Remedy(
        "deep-copy", places, safe=mutation.certain and mutation.kind in ("library", "memo", "handler", "mirror")
    )


def _mend(mutation: CacheMutation) -> str:
    """Where the copy belongs."""
    if mutation.kind == "argument":
        return "let the default be None, and make a new container inside"
    if mutation.kind == "handler":
        return f"start {mutation.handler or mutation.function} with a {mutation.deep_copy} of what it is given"
    where = f" at line {mutation.came.line}" if mutation.came and mutation.came.path == mutation.location.path else ""
    deeper = f"{mutation.deep_copy} instead of the shallow copy" if mutation.copied else mutation.deep_copy
    return f"take a {deeper} of what comes from {mutation.origin}{where}, and change that"


def _changed(mutation: CacheMutation) -> str:
    """What is changed, in a message."""
    match mutation.kind:
        case "handler":
            return f"the object that the cache gives to {mutation.handler or 'this handler'}"
        case "argument":
            return f"the default of {mutation.origin}"
        case "part":
            return f"an entry of {mutation.origin}"
        case "library" | "memo" | "mirror" | "cache" | "lazy":
            return f"an object of {mutation.origin}"
        case _:
            return mutation.origin


def _others(mutation: CacheMutation, others: list[CacheMutation]) -> tuple[Access, ...]:
    """Where the function changes the same object, too."""
    places = {mutation.steps[-1].location}
    found = [other.steps[-1] for other in others if _confidence(other) == _confidence(mutation)]
    steps = {step.location: step for step in found if step.location not in places}
    return tuple(Access("change", "also", step.location, step.function) for step in list(steps.values())[:MOST_OTHERS])


def _callers(mutation: CacheMutation, callers: list[CacheMutation]) -> tuple[Access, ...]:
    """Where others hand the same object to what changes it."""
    found = {caller.location: caller.function for caller in callers if caller.location != mutation.location}
    return tuple(Access("call", "also", place, function) for place, function in list(found.items())[:MOST_OTHERS])


def _accesses(mutation: CacheMutation, last: Step) -> tuple[Access, ...]:
    change = Access("change", "mutate", last.location, last.function, trace=mutation.steps)
    calls = tuple(Access("call", "call", step.location, step.function) for step in mutation.steps[1:-1])
    if mutation.came is None:
        return (*calls, change)
    return (Access("source", "read", mutation.came, mutation.origin), *calls, change)
