"""The rule unlocked-shared-write."""

from collections.abc import Iterator

from racelint.api import Access, Finding, Program, Race, rule
from racelint_rules._shared import COPIES, QUEUES, SEVERITIES, context_words, finding, harm, read_side, severity, verb

MOST_NAMED = 4  # other fields that a message names


@rule(languages=("python", "go"), since="0.2")
def unlocked_shared_write(program: Program) -> Iterator[Finding]:
    """Two contexts that run in parallel access one place, at least one writes it, and no lock is common to both.

    ## What it finds

    A field, class variable, module variable or captured variable that is written in one context (a started thread, a
    pool worker, a timer, a request handler) and accessed in another, or in another instance of the same one, without a
    lock that both hold. Contexts are followed from where they are started, through calls, callbacks that are kept in
    fields, and the project's own wrappers around threads.

    ## Why it is a bug

    Single reads and stores of one value are atomic in Python, what is made of several is not: `n += f()` loses updates,
    a dict that grows while it is iterated raises RuntimeError, what was tested may no longer hold when it is acted on.
    In Go a program that races has no meaning: values may be torn or stale for ever, and the runtime ends a program that
    it sees use one map from two goroutines.

    ## Example

        class Clusters:
            def __init__(self):
                self.clusters = {}

            def start(self):
                threading.Thread(target=self._sync).start()

            def _sync(self):
                for cluster in watch():
                    self.clusters[cluster.name] = cluster

            def zones(self):                          # called by request handlers
                return [cluster.zone for cluster in self.clusters.values()]

    Use instead one lock on both sides, or iterate over a snapshot:

        def zones(self):
            return [cluster.zone for cluster in list(self.clusters.values())]

    In Go:

        type Poller struct {
            state string
        }

        func (p *Poller) Start() {
            go p.run()
        }

        func (p *Poller) run() {
            for {
                p.state = fetch()
            }
        }

        func (p *Poller) State() string {             // called by handlers
            return p.state
        }

    Use instead a mutex on both sides (or an atomic):

        type Poller struct {
            mu    sync.Mutex
            state string
        }

        func (p *Poller) run() {
            for {
                state := fetch()
                p.mu.Lock()
                p.state = state
                p.mu.Unlock()
            }
        }

        func (p *Poller) State() string {
            p.mu.Lock()
            defer p.mu.Unlock()
            return p.state
        }

    ## How it decides

    Both accesses must be in contexts that are proven to run in parallel on one object: threads that are started, or a
    started thread and the callers of the public methods that nothing in the project calls. Silent: before the first
    start in the function that starts, after the join, objects that are fresh or each context's own, thread-locals,
    queues, events, multiprocessing. Hidden (low): what a function does of which its documentation says that it leaves
    out a lock on purpose, or of a public one that only tests call it.

    An object that a function has made belongs to whoever it starts with it, if each has one of his own. It is shared if
    several have the same one (`Thread(target=work, args=(table,))` in a loop behind `table = {}`), or if the function
    goes on with it, or with what lies in it (`for job in jobs: job.begin()`, behind a start with `args=(jobs,)`).

    In Python a container that a constructor keeps as it was given, `Worker(self.jobs)` or `self.jobs = owner.jobs`, is
    the one of the maker's field, if all calls pass that and nobody ever puts another one there; and a variable that a
    function inside of a method uses, `jobs = self.jobs`, means the field's, unless the method, or one that it calls on
    its object, stores the field. Jobs of an executor of one worker run one after the other, as far as they use its
    object.

    A lock that one arm of a branch takes and keeps (`if known { mu.Lock(); defer mu.Unlock() }`), or with which a
    helper returns on some ways, may be held behind it: what it could exclude has low confidence, unless the function
    gives it back itself. Who waits for what it has started holds its locks, and its callers', for
    them, too.

    A finding stands at the act that depends on a check, else at the side that holds fewer locks, else at the iteration
    that fails, else at the write. A walk over all that lies in a container, by a helper that calls itself, is one
    finding, however deep it lies.

    ### Python: what is an error, a warning, nothing

    An error is a wait() for what was tested before its condition was taken, against who changes that and notifies.

    Warnings, for the two have to come at just the same time, and what follows hangs on what the program means to do:

    - a container resized while it is iterated;
    - two calls that change one object of a library which must not be used twice at once: a loop, its
      queue, event, future or task that another thread uses, a stream of zlib, a socket of zmq, a channel of pika
      ([`[[unsafe]]`](../knowledge.md#unsafe));
    - a container replaced while another context changes it in place: what is put into the old one is lost (if the new
      one is made of what was there, or stands behind the use of it, or the same function fills it; what starts anew
      mostly means to forget, and is hidden);
    - two updates (`+=`) of a value that is used as it is then, or tested for one value; an update against another
      store;
    - a check and an act that depends on it, against a write that falsifies the check, if something is opened or taken
      twice;
    - two increments of a count that decides nothing, but for those of two callers;
    - of two `x += n` or `x -= n`, either way, if `n` is at hand (a constant, a variable, an attribute of one), only
      those with a lock on one side, or by a function that uses the value in another line, or tests it there for one
      value (else a note: CPython, from 3.10 on and with the GIL, does not let go between the read and the store, if
      nothing is called there; without the GIL an error);
    - a list that loses elements while it is iterated, but for all of them at once;
    - a use after a test for None, against a store of None;
    - a value computed again and again in one thread and tested in another;
    - what a decorator object stores on itself for the call at hand (of a class that the project does not use itself,
      and that does not put something in a library's place for all at once, as for a test).
    - a field that a constructor stores for the first time when it has started the thread that reads it, itself, by a
      base class or by an object that it hands itself to, if the thread waits for nothing before, and does not read it
      only for each entry of a container that is empty at first;
    - a callback that one method calls at once or keeps, by what it finds set, while another one sets that and then
      calls what is kept: each side looks, and they miss each other. That two threads have to do with it is shown by
      an event or a lock of the object that the other method uses, or by their contexts.

    To store a constant key resizes nothing where the mapping is made with it (`{"sent": 0}`, wherever a field or
    variable gets one, or by its constructor next) and nothing is ever taken out of it.

    Not shown (notes): constants, single item operations, memos whose value has no identity, two stores of computed
    values, counts that start anew now and then, counts that are only compared with a threshold, figures that a function
    or class called so keeps (`update_stats`, `Metrics`), objects that are made on demand for the whole program or never
    given up again (unless they open something), entries that are taken out by their key, elements by their value, or
    made when they are missing (unless they open something, and not one in each job, or the type's documentation says
    that callers share it), what a caller empties who ends the object (`close()`, `cleanup()`): what still runs then
    fails as it ends.

    Where a function reads more than six fields of one type that the same other context writes
    (`func (s *State) String() string`), one of them stands for all, and the message names the others.

    ### Python: confidence

    High if both contexts are started in the project, or the start stands in the class itself or in the one by which
    callers come to what it keeps, or that makes the threads (`Producer` has made both, `self._metadata` and
    `Sender(self._metadata)`); medium with callers from outside on containers; low (hidden) where objects may be
    different ones, over long chains of calls (between two threads more than three together, else more than eight; what
    both have in common counts once), where a method was found by its name alone, where two contexts are started in
    other files than those of the accesses, where one of them uses the entry of a mapping under an object that only its
    run knows (`USES[self] += 1`), where an exception handler deals with the outcome (of a test and its use also one
    that takes all exceptions of a turn of a loop on the way), for plain stores beside plain stores, for callers beside
    the event loop, for what takes two steps between a coroutine and a thread (mostly one of them is there because the
    other one is not), and for what a class of threads is given to work on, against callers, unless who has made that
    makes the threads, too. Several workers share what all that makes them gives to each, also through constructors
    above (`super().__init__(jobs)`).

    Ordered, hence silent: what a constructor, or a caller on the way, does before the start in question, whatever it
    has started by then; what a constructor does, against a thread that has first waited for something to be given to it
    (a queue, an event); what a thread does before it sets an event that only it sets, once, against what comes behind
    `wait()` without a timeout, or in an object whose constructor has waited so; two jobs of which one coroutine awaits
    the first before it starts the second, or in the turn that has started it; jobs of an executor, each of which is
    awaited under one lock between tasks, or whose executor has been shut down; what runs on an event loop (as does a
    coroutine that a function in a caller's thread only makes), and the thread that runs that loop; a function that is
    called where it could not be posted to such a loop; what an object does where it has found that the field is empty
    that holds its thread, or where a field that only its constructor stores says the opposite of what its thread was
    started by (`if not self._threaded: self.poll()`). What a process starts has a memory of its own, and so have the
    jobs of an executor of processes: who has joined the threads is alone still when it has started one. A flag that is
    found unset and set (under a lock, or between two tasks) keeps others out until it is set back, also where a method
    does that for its caller: `self._claim()`. What has `acquire()` and `release()` is a lock by any name.

    Where the repository has tests or examples that use the program, a method whose name neither they nor the program
    mention has no caller, nor has what it starts; methods of a library's classes, and what a decorator takes, do. So it
    is with a function of a module that others import, if it needs arguments (else it may be a command), and with a
    class, whose names stand nowhere else.

    What only the main code of a file leads to (`if __name__ == "__main__":`) happens in a process that runs this file,
    and does not meet what another file's main code starts, nor what lies, or is started, in files that it does not
    import, unless it looks for more by itself (`importlib`);
    what it names in a text (`uvicorn.run("app:api")`) counts as imported.
    Methods that run as classes are defined (`__init_subclass__`, `__set_name__`) run where these are imported: no
    caller calls them.

    What needs another context just between two steps (a test and its act or use, a change to a container that is being
    replaced) is shown only at high confidence, or if the type's own code or documentation says that callers share it.
    A value that is stored and tested is shown between threads that one function starts, unless the test only asks
    whether there is one; an update beside a store, if one side holds a lock.

    Two callers at once are shown by a lock of the object that no started context takes, in the methods that take it,
    and by a thread of the object that calls what it was given with the object itself: then updates, resized iterations
    and replaced containers of the object's own count (medium), with such a lock also acts that depend on a check, but
    not where both would take the turns of a loop that waits for input.

    A lock that is made when it is missing by who takes it then, with no lock around that, needs no other thread to be
    seen (medium): that it is taken there says that several may come at once, and each holds a lock of its own. So it is
    with a `threading.local()` that is made when it is missing: what another thread has put there is lost.

    ### Go

    Every unordered pair of accesses to one location counts, one of them a write: a program that races has no meaning.
    All are warnings, also those on the content of a map, where the runtime ends the whole program: of 51 of these, at
    first sight, 30 were right, of others as large a share. Whether two ever meet is what cannot be seen.

    A variable is one location, the content of a map is another one; elements of slices are not compared. So is the
    state of an object that its library does not make safe: `rand.Rand`, `list.List`, `bytes.Buffer`, the writing side
    of a websocket ([`[[unsafe]]`](../knowledge.md#unsafe)). The read side of an RWMutex excludes writers only; a write
    under the read side of a lock that others hold, too, is told as such. A `semaphore.Weighted` of size one is a lock,
    and so is a channel with room for one that all its users only pass: `turn <- struct{}{}` before, `<-turn` behind, or
    the other way round if something was put in where it was made. So is a type of the project that has `Lock()` and
    `Unlock()` and is called so (`CountingMutex`), whatever these do, an interface that asks for nothing else, and
    `type Guard sync.Locker`.

    Ordered, hence silent:

    - what comes before the `go` statement, or after `wg.Wait()` (whoever waits: what precedes `wg.Done()` is over, and
      so is all that the group's member has started, if it waits for that first: `defer wg.Done(); ...; <-done`);
    - what comes after a receive from a channel that the function has made or that an object has for its signals (also
      from a goroutine that gives it one of several things, by the way that it takes), or after as many receives as
      goroutines were started, if a counter says so (of a variable that may hold nothing, what it holds else), or after
      a call of a helper that only takes from the channel and returns on no way without having done so (`gather(done)`);
      if a loop is left by that (`for { select { case <-up: return; case <-tick: } }`), what the goroutine does only as
      long as a variable of its own says that it has not told so (`if !told { s.add(row) }`, `told = true; close(up)`);
    - what the maker of an object does when it has started a worker that waits for what comes from a channel of that
      object, made with it, as long as nobody else has either and nothing that runs by then sends to it;
    - what follows a loop that waits until a counter of those at work is at zero (`for s.workers > 0 { s.idle.Wait() }`,
      where each ends with `s.workers--`, also of a variable, in a deferred closure), or one that fills a semaphore
      (`for range cap(free) { free <- token }`); what the last one to leave does (`if s.left.Add(-1) == 0`), if the
      counter never goes up; if it does, as one of references that begins with the owner's own (`refs: 1`),
      that he clears what others read who give one back;
    - what follows `<-ctx.Done()`, if only a `cancel()` of the program ends the context, or stands behind a test that it
      was not time that has ended it;
    - what is behind `if err := within(limit, f); err != nil { return err }`, if that helper returns nothing but errors
      while what it has started may still run, or behind a loop that ends by a flag which only the receive sets
      (`for !done { select { case <-c: done = true; case <-tick: } }`);
      likewise behind `if err := c.wait(ctx); err != nil { return err }` what
      comes before `close(c.ready)`, if that helper returns nothing but errors where it has not received,
      and behind `if !c.isUp() { return }`, if it answers so only where it has; what is started behind a receive;
    - what precedes the one `close(c)` and what follows `for range c`, or `!ok`; what precedes the one
      `ready.Store(true)` and what follows on `if ready.Load()`, also where that is asked once more under the lock under
      which it is set, and on `if s.available()`, which returns `s.ready.Load() && !s.failed`;
    - what precedes all that sets a field under a lock and what has found it set under that lock
      (`if s.key == nil { return }`), if it is done once; what precedes the one store of a flag, `s.up = true`, under a
      lock, and what has found it set under that, be it by a helper; what is stored only where a field is found unset
      that is set under a lock, for good, be it that field itself, and reads by who has found it set under that, or has
      called what leaves it set (`s.connect(); use(s.conn)`); one winner of `CompareAndSwap`, be its answer asked for
      by a variable, or of `if n.Add(1) == 1`;
    - what stands behind the `close` of a channel that is made once, with what is accessed, on both sides: a second
      close panics; what is stored where nothing is yet and what is started behind that, in the same branch
      (`if addr == nil { addr = from; go reply() }`), if nothing else stores there; what fills a field in where it is
      empty, in what is started, be it by way of other starts, behind a call that has surely done so for that object
      (`if err := r.connect(); err != nil { return err }; go r.run()`);
    - what precedes `server.Shutdown(ctx)` and what follows `server.Serve(listener)`, which returns then;
    - variables that are new in each turn of the loop that starts the goroutines; what that loop walks, which is read
      before its first turn; what each is handed another variable or part of (`go fill(&t.wins); go fill(&t.losses)`);
    - `sync.Once`, with what its function starts and waits for; atomics, `sync.Map`;
    - calls that part, on the way, from those that lead to the start, and come first, and what their caller does
      before; what a handler is registered after, be it done by goroutines that have been waited for by then; what a
      function that a program runs once does, or leads to, before it goes on to all that starts or registers the other
      side, however far away;
    - what another program of the repository does, or the same one when it has taken another way where it starts
      (`if mode == "webhook"`); what two tests of a field that nobody changes lead to, if they contradict each other;
    - what one side does without the lock of a flag that hands it over, to a side that finds the flag set under that
      lock and takes it back; a field that a timer is put into, and what the timer calls.

    In Go a struct that is stored whole has all of its fields stored (`*s = Stats{}`), and one that is copied has all of
    them read: `return s.report`, `send(s.report)`, `x := *s`. One field is told for all. What a getter gives
    the address of (`return &s.report`) is the field itself.

    What is taken out of a field that gets another container at once belongs to the taker.

    A map that is sent over a channel belongs to who receives it. Who keeps it in a field, too, and later puts entries
    in or takes them out is told (medium), whoever the receiver may be; not so if the field gets another map behind the
    send, or the sender waits for an answer.

    What a spot starts runs several times at once where that spot is passed again before the last one has ended: by what
    answers requests, or in a loop that only goes over something (`for _, name := range names { p.spawn(name) }`), if
    all of them come to one object. In Go so does what a public method starts for what a call gives, in a goroutine that
    comes to an end (`func (x *Index) Add(name string) { go x.scan(name) }`; medium): whoever calls does so again, but
    of methods by whose name a service starts (`Start`, `Run`). Not so if the function waits, if a flag or `sync.Once`
    lets one through, if what is stored there is asked for first, and in loops without an end, which mostly begin anew
    when all is over. What a helper starts is started by its caller: `run(func() { ... })`, if `run` does `go func() {
    work() }()`, several at once if it does so in a loop that receives nothing; of a method of a type that has more than
    eight that counts only if it is given no more than twelve functions in all.

    What each run of a handler or a goroutine makes for itself no other run of it has, also where what the run starts
    has it; heaps and what is sorted are used by who calls `heap.Push` or `sort.Sort`, under the locks that he holds. A
    variable is one of one call: another run calls its function anew, and so what that defers, too (`defer func() {
    log(err) }()`). Objects of two variables of packages are two, if each holds one of its own. What is taken out of a
    `sync.Pool` for each request is not shared by them, nor is a struct that is a variable of one call, if no pointer to
    it is made. A field that every literal of its type gives a value is never found nil; `var _ Interface = &T{}` is
    none of them. What a pointer or a map of a package leads to, that has no exported name and that none but tests set,
    is never used.

    An object on which a method of its own, or its factory, has started something is known to that, whoever else uses it
    then; so is each object of a type if the one function that makes them does that (medium).

    Closures that answer requests share the variables of the function that has made them, if that runs once or returns
    the handler; the objects in them also if nothing that answers a request calls that function. An object whose method
    makes the closure is hardly shared if requests call that method, each maybe on its own. Closures and methods that
    are handed to helpers and workers are followed there. Of a type of which the program makes one object all accesses
    are of that object, unless it is declared in generated code, which may make more. Of two types behind one interface
    that start the same function, a program has one. A controller has one worker, unless `MaxConcurrentReconciles` is a
    number above 1, and a reconciler that leaves all objects but the one of a constant name has one object at a time. A
    write under a lock of the object itself says that others have the object.

    High confidence needs two contexts that the project or a library starts (goroutines, handlers, informers,
    reconcilers) on an object that is shared for sure, by five calls at most on both ways together if the contexts are
    two; a caller beside a goroutine is medium at most. Low: elements of containers (a worker mostly has a key of its
    own), what goroutines that a loop starts, one for each element, do only for one that equals what all of them have
    (`if node == c.self`), parameters of unknown origin, objects found in two fields or just put there, what is set once
    under a lock, the size of a map, setters, registrations, what constructors and what sets the program up write before
    callers come, what interfaces with a single method lead to, or those of which a type passes calls on under a lock,
    if it is not known what arrives there; values that one function makes on demand, by whoever comes first (a map
    is lost with its entries, and counts); two stores of one constant in a field, or, without a lock of their own, in
    a variable of the function whose own `go` statements start both goroutines, or of what lies there already, as all
    callers give it (`parse(configFile)`) or as a field has been given it from that very variable (`logger = h.log`),
    or as all that is ever stored there is one constant, first by the start-up or where the object is made; settings of
    the program that are stored again and again; fields that are only added to, of types that keep figures by their
    name (`queryStats`), and numbers that are counted where no code that can see them, but for tests, asks how many;
    a number or a text that the other side reads for a log only, or a number for a text that only a log gets
    (`fmt.Sprintf`); a container of which it only takes the size for a log, or, in a function that tells figures by its
    name (`InternalMetrics`), for a library; a flag that tells a loop to end whose listener is closed behind it
    (`s.done = true; s.listener.Close()`), where who finds it unset waits for that listener at once, or has just got its
    error. Low is also what one goroutine that is started once stores once, if it had to be got first (a client, a
    setting, no constant): who reads it mostly waits for it in a way that cannot be seen; not so if the function that
    starts the one goroutine, or a caller of it, starts the other one, too. Low is what a function
    stores that a closure which it starts looks at, where it waits in between, or in each turn of the loop around both.

    And low is what is stored whole, and read or tested, where little depends on which value is seen: where the ways to
    the two lead through functions of three types (flags, numbers, references), through three packages, or, without any
    lock, through five types and functions, or, of a word that two contexts share, through two types (unless it is set
    to nil, or both answer requests); a word that is a package's own and that no lock guards, but for what
    handlers do with it; a word without any lock between a goroutine and callers, unless it is set to nil. So is
    what a caller comes to by a method of another type than that whose field it is, or that which has started the
    goroutine (`Command.Show` asks `depot.count`), unless what leads there starts the goroutine, too.

    ## Known limits

    Conditions that go together (`if c.running` on both sides) are not understood in Go. Objects are told apart by class
    and by the field that holds them, not one by one. Callers outside the project are assumed to call public methods
    from any thread, but two of them at once only on objects of a type whose documentation says that this is safe, or
    whose code shows it.
    """
    for race in program.races():
        if race.shape in SEVERITIES:
            yield finding(
                race,
                "unlocked-shared-write",
                severity(race, program),
                _message(race) + _others(race),
                _because(race),
                harm(race),
                _mend(race),
            )


def _others(race: Race) -> str:
    """The other fields that the same function reads in a race with the same contexts."""
    names = [symbol.rpartition(".")[2] for symbol in race.alike]
    if not names:
        return ""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"; likewise {', '.join(names[:MOST_NAMED])}{more}"


def _message(race: Race) -> str:
    first, second = race.first, race.second
    if race.evidence == "late-lock":
        return f"{race.symbol} is a lock that {context_words(first)} makes when it is missing: two may make one each"
    if race.evidence == "late-local":
        return f"{race.symbol} is made by {context_words(first)} when it is missing: what another has put in is lost"
    if race.shape == "missed-call":
        return f"{race.symbol} may be given a callback just when {second.function} has called all that are there"
    if race.shape == "late":
        return f"{race.symbol} is first stored when a thread is started that reads it"
    if race.shape == "sent":
        return f"{race.symbol} is {verb(first)} in place, and sent over a channel besides"
    alike = first.context == second.context or (race.language == "go" and first.context.kind == second.context.kind)
    both = "another" if alike else context_words(second)
    if lock := read_side(race):
        return (
            f"{race.symbol} is {verb(first)} by {context_words(first)} under the read side of {lock} only, "
            f"and {verb(second)} by {both} at the same time"
        )
    return f"{race.symbol} is {verb(first)} by {context_words(first)} and {verb(second)} by {both}, with no common lock"


def _because(race: Race) -> str:
    first, second = race.first, race.second
    if race.evidence == "late-lock":
        return "the lock is made by who takes it then: that says that several may come at once"
    if race.evidence == "late-local":
        return "it has something for each thread: that says that several may come at once"
    if race.shape == "missed-call":
        return "the one asks whether it is done before it keeps a callback, the other says so and calls what is kept"
    if race.shape == "late":
        return "the constructor has started the thread already, which may be at work before the constructor goes on"
    if race.shape == "sent":
        return "what is sent belongs to who receives it, who has no lock for it"
    if race.evidence == "documented":
        return f"the documentation of {race.symbol.partition('.')[0]} says that callers may use one object at once"
    if race.evidence == "admitted":
        return (
            "callers may use one object at once: it keeps them from each other elsewhere, or calls them on its thread"
        )
    if first.context == second.context and race.language == "go":
        return "several of these goroutines run at once, and nothing orders the two accesses"
    if first.context == second.context and first.function == second.function:
        return f"several of these {context_words(first).removeprefix('a ')}s run at once, and nothing orders them"
    one, two = context_words(first), context_words(second)
    return f"{one} and {'another one' if one == two else two} run side by side, and nothing orders the two accesses"


def _mend(race: Race) -> str:
    if race.evidence == "late-local":
        return "make it where the object is made, or with the module"
    if race.evidence == "late-lock":
        return "make the lock where the object is made, or with the module: before anybody can come by"
    if race.shape == "missed-call":
        return "hold one lock from the test to where it is kept, and where the other side says that it is done"
    if race.shape == "late":
        return "start the thread when the object is complete, at the end of the constructor or by a method of its own"
    if race.shape == "sent":
        return f"send a copy: {COPIES[race.language]}"
    if race.shape == "overwritten":
        return "keep it in a local variable of the call, or make a new object for each call"
    if race.shape == "lost-wakeup":
        return "test under the condition, in a loop around wait(), what the other side changes before it notifies"
    if lock := read_side(race):
        return f"take the write side of {lock}: the read side does not keep out those who hold it, too"
    apart = _is_of_loop(race.first) != _is_of_loop(race.second)
    if race.shape == "loop-write" or (race.shape == "state-write" and apart):
        return (
            "leave it to the loop's own thread: loop.call_soon_threadsafe(...), asyncio.run_coroutine_threadsafe(...)"
        )
    return f"hold one lock on both sides, or hand the value over by {QUEUES[race.language]}"


def _is_of_loop(access: Access) -> bool:
    return access.context.kind in ("task", "loop", "remote", "async external")
