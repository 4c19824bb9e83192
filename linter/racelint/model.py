"""The language-neutral program model: what every front end lowers to and all that the analysis sees.

Plain NamedTuples throughout: they pickle fast, compare by value and hold no syntax node. A `Module` is a pure function
of a file's text, so it can be cached by content; where the file lives is known to `Source` alone.
Names inside a module (`qualname`) are relative to it: "Type.method", "function.inner", "<module>".
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from racelint.record import Record
from racelint.span import Span

Scope: TypeAlias = Literal["local", "captured", "global"]
Direction: TypeAlias = Literal["", "send", "receive"]
Scalar: TypeAlias = str | int | float | bool | bytes | complex | None


# --- types as they are written ----------------------------------------------------------------------------------------


class TypeRef(Record):
    """A type as written: dotted name and arguments; a union is named "Union", a pointer "pointer".

    `module` is the import path of the module that has the name, where the front end knows it. `direction` says of a
    channel what can be done with it, if not both: "send", "receive".
    """

    name: str
    args: tuple[TypeRef, ...] = ()
    module: str = ""
    direction: Direction = ""


# --- expressions: reduced to what matters -----------------------------------------------------------------------------


class Const(Record):
    """A literal scalar."""

    value: Scalar


class Name(Record):
    """A variable; `global` also covers builtins, the linker tells them apart."""

    name: str
    scope: Scope
    span: Span


class Attr(Record):
    """`base.name`: one step of an access path."""

    base: Expr
    name: str
    span: Span


class Item(Record):
    """`base[key]`: one step of an access path."""

    base: Expr
    key: Expr
    span: Span


class Call(Record):
    """A call; a keyword named "" spreads a mapping, a `Star` among the arguments spreads a sequence."""

    func: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    span: Span


class Build(Record):
    """A fresh container display; for "dict" `keys` runs beside `parts`, a None key spreads that part."""

    kind: Literal["dict", "list", "set", "tuple"]
    parts: tuple[Expr, ...]
    keys: tuple[Expr | None, ...]
    span: Span


class Comp(Record):
    """A comprehension: `body` is a loop that ends in `Collect`; a "generator" runs lazily in its consumer."""

    kind: Literal["dict", "list", "set", "generator"]
    body: Stmt
    span: Span


class Closure(Record):
    """A function or lambda used as a value; `function` is its qualname in this module."""

    function: str
    span: Span


class TypeValue(Record):
    """A class used as a value; `type` is its qualname in this module."""

    type: str
    span: Span


class Imported(Record):
    """What a local import statement binds: a module, or `name` out of a module; `level` counts leading dots."""

    module: str
    name: str | None
    level: int

    def absolute(self, path: str, importer: str) -> str:
        """The dotted name of the module for an importer, a module at a path: relative ones are counted from there."""
        if not self.level:
            return self.module
        parts = importer.partition("@")[0].split(".")
        if not path.endswith(("/__init__.py", "/__init__.pyi")):
            parts = parts[:-1]
        parts = parts[: len(parts) - (self.level - 1)]
        return ".".join([*parts, self.module] if self.module else parts)


class Logic(Record):
    """Short-circuit `and` / `or`: the value is one of the operands."""

    operator: Literal["and", "or"]
    operands: tuple[Expr, ...]


class Choice(Record):
    """A conditional expression."""

    test: Expr
    then: Expr
    orelse: Expr


class Op(Record):
    """Something else made of these parts: arithmetic, comparison, "not", "in", "is", slices, format strings.

    Some operators mean more: "address" (of a variable or field) and "deref"; "window" (part of a sequence, the same
    memory: from, to, and where its room ends); "append" (a sequence with more at its end, perhaps the same memory);
    "keys", "values" and "entries" (what a loop walks, whatever the container is); "send", "receive" and "close" (a
    channel); "length", "clear", "copy into"; "decorated" (what decorators have made of a function, and the function).
    """

    operator: str
    operands: tuple[Expr, ...]
    span: Span


class Bind(Record):
    """An assignment inside an expression (`:=`)."""

    target: Expr
    value: Expr


class Await(Record):
    """A suspension point that waits for `value`."""

    value: Expr
    span: Span


class Yield(Record):
    """Hands a value (or, delegated, a whole iterable) to the consumer and suspends."""

    value: Expr
    delegated: bool
    span: Span


class Star(Record):
    """A spread sequence in arguments, displays and targets."""

    value: Expr


class Make(Record):
    """A fresh object of a written type: a literal with named or ordered parts, an allocation, a zero value.

    `keys` runs beside `parts` for a mapping or a sequence with indexes; `fields` are the named parts of a struct.
    """

    type: TypeRef
    parts: tuple[Expr, ...]
    keys: tuple[Expr | None, ...]
    fields: tuple[tuple[str, Expr], ...]
    span: Span


class Cast(Record):
    """A value seen as another type: a conversion or an assertion."""

    value: Expr
    type: TypeRef
    span: Span


Expr: TypeAlias = (
    Const
    | Name
    | Attr
    | Item
    | Call
    | Build
    | Comp
    | Closure
    | TypeValue
    | Imported
    | Logic
    | Choice
    | Op
    | Bind
    | Await
    | Yield
    | Star
    | Make
    | Cast
)


# --- statements: structure is kept, since order, nesting and exits decide --------------------------------------------


class Assign(Record):
    """`targets = value`; a target is a Name, Attr, Item, Star or a "tuple" Build of targets."""

    targets: tuple[Expr, ...]
    value: Expr
    span: Span


class Update(Record):
    """`target operator= value`: read, modify, write."""

    target: Expr
    operator: str
    value: Expr
    span: Span


class Delete(Record):
    """`del target`."""

    target: Expr
    span: Span


class Eval(Record):
    """An expression evaluated for its effects."""

    value: Expr
    span: Span


class Collect(Record):
    """Adds an element to the comprehension around it; `key` for mappings."""

    key: Expr | None
    value: Expr
    span: Span


class Branch(Record):
    """`if test`."""

    test: Expr
    then: Block
    orelse: Block
    span: Span


class Loop(Record):
    """`for target in iterable` or `while test`; `orelse` runs when the loop ends without break.

    `step` runs after each turn, also after `continue`; `label` is what labelled jumps call the loop.
    """

    target: Expr | None
    iterable: Expr | None
    test: Expr | None
    body: Block
    orelse: Block
    is_async: bool
    span: Span
    step: Block = ()
    label: str = ""


class Hold(Record):
    """Context managers held over a body (`with`): pairs of expression and target."""

    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block
    is_async: bool
    span: Span


class Handler(Record):
    """One `except` clause."""

    caught: Expr | None
    target: Expr | None
    body: Block


class Try(Record):
    """Exceptions handled, and what runs on every way out."""

    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block
    span: Span


class Jump(Record):
    """Leaves the block: to the loop's next turn, out of the loop, the function, or by an exception.

    With a `label`, of the loop or the block that has it.
    """

    kind: Literal["return", "raise", "break", "continue"]
    value: Expr | None
    span: Span
    label: str = ""


class Labelled(Record):
    """A block that `break` with its label leaves: a `switch`, a `select`."""

    label: str
    body: Block
    span: Span


class Defer(Record):
    """A call that runs when the function is left, last in first out (Go)."""

    call: Expr
    span: Span


class Spawn(Record):
    """A call that runs beside what follows (Go's `go`)."""

    call: Expr
    span: Span


Stmt: TypeAlias = (
    Assign | Update | Delete | Eval | Collect | Branch | Loop | Hold | Try | Jump | Labelled | Defer | Spawn
)
Block: TypeAlias = tuple[Stmt, ...]


# --- declarations -----------------------------------------------------------------------------------------------------


class Parameter(Record):
    """A parameter; "variadic" collects positions, "keywords" collects names."""

    name: str
    kind: Literal["positional", "keyword", "variadic", "keywords"]
    annotation: TypeRef | None
    default: Expr | None


class Turn(Record):
    """A variable that is a new one in each turn of a loop; where `edition` is set, only from that version on."""

    variable: str
    loop: Span
    edition: str = ""


class Function(Record):
    """A function, method, lambda, class body or module body.

    `binding` says what the first parameter is bound to: the instance, the class, or nothing. `bindings` maps each local
    variable to every expression assigned to it, for types: an element that a loop takes out of `xs` is
    `Op("element", (xs,))`, what a context manager gives `Op("enter", (manager,))`. Under "return" stands what it
    returns, and under "name()" what nested functions assign to its variable. `annotations` holds declared types.
    `is_public` says that callers outside the project may call it. `cells` are its own variables that nested functions
    use too, where that is the same variable to both, and `births` where they are declared; `turns` are the variables
    that are new in each turn of a loop. `is_initial` says that it runs before all others.
    """

    name: str
    qualname: str
    owner: str | None
    parent: str | None
    parameters: tuple[Parameter, ...]
    returns: TypeRef | None
    is_async: bool
    is_generator: bool
    binding: Literal["instance", "class", "none"]
    is_property: bool
    decorators: tuple[Expr, ...]
    body: Block
    bindings: dict[str, tuple[Expr, ...]]
    annotations: dict[str, TypeRef]
    doc: str
    span: Span
    is_public: bool = True
    cells: frozenset[str] = frozenset()
    turns: tuple[Turn, ...] = ()
    births: tuple[tuple[str, Span], ...] = ()
    is_initial: bool = False

    @property
    def own(self) -> str:
        """What a method calls its own instance; "" elsewhere."""
        return self.parameters[0].name if self.parameters and self.binding == "instance" else ""


class Assigned(Record):
    """A value assigned somewhere: the expression and the function whose scope gives its names their meaning."""

    function: str
    value: Expr


class Field(Record):
    """A field of a type, or a module's global: its declared type and all that is assigned to it.

    `constant` is what it is worth for good, if the language says that nobody can assign to it and it is so simple.
    """

    name: str
    annotation: TypeRef | None
    values: tuple[Assigned, ...]
    span: Span
    constant: Const | None = None


class Type(Record):
    """A class, struct, interface or other defined type.

    `embedded` names the fields whose members count as the type's own. `underlying` is what a defined type is made of,
    if that is no struct. `is_interface`: every type that has its methods is one. `by_value`: variables and fields hold
    the object itself, unless it is behind a pointer; an assignment copies it.
    """

    name: str
    qualname: str
    bases: tuple[Expr, ...]
    fields: dict[str, Field]
    methods: dict[str, str]
    decorators: tuple[Expr, ...]
    doc: str
    span: Span
    embedded: tuple[str, ...] = ()
    underlying: TypeRef | None = None
    is_interface: bool = False
    by_value: bool = False


class AttributeStore(Record):
    """`base.name = value` on something that is not the method's own instance: it may set a field of another type.

    Where types declare their fields it is any object's, also the literal's that gives a field its value; `name` is ""
    for a literal whose parts go by their order, which is the base.
    """

    function: str
    base: Expr
    name: str
    value: Expr


class Filling(Record):
    """A value that a function puts into a container: the one in a field of the class `owner`, or in a module's global
    ("" then).
    """

    owner: str
    name: str
    function: str
    value: Expr


class Construction(Record):
    """A call that gives something, and the function it stands in: what constructors and functions are given."""

    function: str
    call: Call


class Comment(Record):
    """A comment that speaks to racelint; `alone` if nothing else stands on its line.

    `raw` is all of it with its markers, `column` where that starts (in characters from 1).
    """

    line: int
    text: str
    alone: bool
    raw: str = ""
    column: int = 1


class Annotation(Record):
    """What an author says of a field, a global, a function or a type, in a comment or as code.

    "guarded_by" and "requires_lock" name locks, "confined" a context; "described" is a comment in plain words
    that names the lock of a place; `names` are their dotted names ("self._lock" is
    `("self", "_lock")`), () if `text` is no name. `name` is the field of the type `owner`, the global, the variable of
    the function `owner` that functions in it use, too, or the qualname of the function or type; "nothing" if the
    annotation stands beside nothing that it could be about.
    """

    kind: Literal["guarded_by", "requires_lock", "confined", "described"]
    text: str
    names: tuple[tuple[str, ...], ...]
    target: Literal["field", "global", "variable", "function", "type", "nothing"]
    owner: str
    name: str
    span: Span


class Traits(Record):
    """What sets a language apart, for the analysis.

    `atomic_steps`: single loads and stores do not race. `capital_types`: what has a capital letter and is called is a
    class. `duck_typed`: what something of unknown type is may be told from the names of the methods that are called.
    `deep_copy` is what people write to copy an object with all that is in it. `scalars` are the types, as they are
    written, of numbers, truth values and texts: who reads one has read all that is in it; `texts` are those
    of them that take more than one word. `live_views`: what the methods of a container give to be walked follows its
    changes (else, in Python 2, it is a list). `outdated` are the modules, and the names out of
    others ("module.name"), that a file cannot be without and that only an earlier edition has.
    """

    atomic_steps: bool = True
    capital_types: bool = True
    duck_typed: bool = True
    deep_copy: str = "copy.deepcopy()"
    scalars: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    live_views: bool = True
    outdated: frozenset[str] = frozenset()

    @property
    def numbers(self) -> frozenset[str]:
        """The scalars that are neither texts nor truth values."""
        return self.scalars - self.texts - {"bool"}


class Module(Record):
    """One file, lowered. `star_imports` are modules all of whose public names are taken over.

    `imports` go by the name that the file has for them; in Go, where names of packages are no variables, by their path.

    Files of one name and one `package` share their names; "" where each file is a module of its own. `mentions` are the
    names by which a file gets at attributes, and those in its texts that look like names, with spaces between; where
    calls say of what type their object is, the names of what is not only called, and `called` the names of attributes
    and of public functions that are called. `words` are all longer words of the file, comments and all, but for names
    of functions and types that stand there once, where they are declared. `loads` are all import statements of the
    file, in whatever scope, where it takes more than an outline to know what is imported. `constraint` is the condition
    on which builds take a file in, in the language's own words. `main_code` is where the file does something if it is
    run as a program, `installs` under which names packages are imported that lie in folders of other names, with these
    (relative to the file's). `doc` is what the comments at the head of a program's file say of that, where programs are
    packages of their own.
    """

    language: str
    imports: dict[str, Imported]
    star_imports: tuple[Imported, ...]
    types: dict[str, Type]
    functions: dict[str, Function]
    globals: dict[str, Field]
    attribute_stores: tuple[AttributeStore, ...]
    constructions: tuple[Construction, ...]
    comments: tuple[Comment, ...]
    generated: bool
    lines: int
    package: str = ""
    traits: Traits = Traits()
    fillings: tuple[Filling, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    mentions: str = ""
    called: str = ""
    words: str = ""
    constraint: str = ""
    loads: tuple[Imported, ...] = ()
    main_code: Span | None = None
    installs: tuple[tuple[str, str], ...] = ()
    doc: str = ""


class Source(Record):
    """A module and where it was found: absolute path, dotted name, whether findings in it are shown.

    `edition` is the language version that its project declares, "" if none. What the usual build leaves out gives way
    to what another file of its package declares by the same name.
    """

    path: str
    name: str
    module: Module
    reported: bool
    edition: str = ""
    left_out: bool = False
