"""Deep copies that a fix puts into Python code: of a shared object, where a function gets hold of it."""

from __future__ import annotations

import libcst as cst

from racelint.finding import Remedy
from racelint.languages.python.iterating import COMPREHENSIONS, VIEWS, bare
from racelint.languages.python.names import Names
from racelint.languages.python.piece import Piece
from racelint.span import Span

Changed = tuple[str, cst.CSTNode] | None
SHALLOW = frozenset({"dict", "copy.copy", "copy"})


def deep_copy(piece: Piece, names: Names, remedy: Remedy) -> Changed:
    """Take a deep copy of the object where it comes from, if what is changed is used afterwards."""
    *sources, change = [place.span for place in remedy.places]
    taken = _taken(piece, sources[0], change) if sources else None
    variable = _variable(piece, change)
    if variable in ("self", "cls"):
        return None
    description = "change a deep copy"
    if taken is not None:
        loop = _loop_over(piece, taken)
        if loop is None:
            if variable and not _is_used_after(piece, variable, change):
                return None
            return _described(description, _wrap(piece, names, taken))
    if not variable or not _is_used_after(piece, variable, change):
        return None
    return _described(description, _copy_variable(piece, names, variable, change))


def _described(description: str, changed: cst.CSTNode | None) -> Changed:
    return (description, changed) if changed is not None else None


def _taken(piece: Piece, source: Span, change: Span) -> cst.BaseExpression | None:
    """The expression that gets hold of the object, with all steps into it, if its value is kept or passed on."""
    found = next(iter(piece.expressions(source)), None)
    if found is None:
        return None
    while True:
        parent = piece.parent(found)
        if isinstance(parent, cst.Await | cst.Yield):  # also of inlineCallbacks
            found = parent
        elif isinstance(parent, cst.From):
            return None
        elif isinstance(parent, cst.Attribute | cst.Subscript) and parent.value is found:
            outer = piece.parent(parent)
            if isinstance(outer, cst.Call) and outer.func is parent:
                break
            found = parent
        else:
            break
    around = next(
        (
            node
            for node in piece.parents(found)
            if isinstance(node, cst.Arg | cst.BaseSmallStatement | cst.For | cst.NamedExpr)
        ),
        None,
    )
    if isinstance(around, cst.Arg) and piece.span(found) != change and _is_shallow(piece, found) is None:
        call = piece.parent(around)
        used = isinstance(call, cst.Call) and not isinstance(piece.parent(call), cst.Expr)
        return found if isinstance(call, cst.Call) and used and piece.span(call) == change else None
    value = getattr(around, "iter" if isinstance(around, cst.For) else "value", None)
    kept = value is not None and piece.wide_span(value).holds(piece.span(found))
    stored = isinstance(around, cst.Assign | cst.AnnAssign | cst.NamedExpr | cst.For)
    return found if (kept and stored) or _is_shallow(piece, found) else None


def _is_shallow(piece: Piece, node: cst.BaseExpression) -> cst.Call | None:
    """The call that makes a shallow copy of an expression, right around it."""
    parent = piece.parent(node)
    if isinstance(parent, cst.Arg):
        call = piece.parent(parent)
        if isinstance(call, cst.Call) and len(call.args) == 1 and piece.code(call.func) in SHALLOW and not parent.star:
            return call
    if isinstance(parent, cst.Attribute) and parent.value is node and parent.attr.value == "copy":
        call = piece.parent(parent)
        if isinstance(call, cst.Call) and call.func is parent and not call.args:
            return call
    return None


def _loop_over(piece: Piece, node: cst.BaseExpression) -> cst.For | None:
    """The loop that walks an expression."""
    inner: cst.CSTNode = node
    for outer in piece.parents(node):
        if isinstance(outer, cst.For) and outer.iter is inner:
            return outer
        if isinstance(outer, cst.BaseStatement | cst.BaseSmallStatement):
            return None
        inner = outer
    return None


def _wrap(piece: Piece, names: Names, node: cst.BaseExpression) -> cst.CSTNode | None:
    """The tree with a deep copy of an expression, in place of a shallow one around it."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in VIEWS:
        return None  # views cannot be copied
    if isinstance(node, COMPREHENSIONS):
        return None
    target = _is_shallow(piece, node) or node
    function = names.deepcopy()
    if not function:
        return None
    inner = bare(node)
    if isinstance(inner, cst.Yield):
        inner = inner.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    call = cst.Call(cst.parse_expression(function), [cst.Arg(inner)])
    return piece.module.deep_replace(target, call)


def _variable(piece: Piece, change: Span) -> str:
    """The variable whose object is changed: the root of what is assigned to, of a method's object, or an argument."""
    nodes = [node for node in piece.nodes() if piece.span(node) == change] if change else []
    for node in nodes:
        match node:
            case cst.SimpleStatementLine(body=[cst.BaseSmallStatement() as only]):
                return _root_of_statement(only)
            case cst.BaseSmallStatement():
                return _root_of_statement(node)
            case cst.Call():
                return _root_of_call(node)
            case cst.Attribute() | cst.Subscript():
                return _root(node)
    return ""


def _root_of_statement(node: cst.BaseSmallStatement) -> str:
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() | cst.Subscript() as target)]):
            return _root(target)
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            return _root(target)
        case cst.Del(target=cst.Attribute() | cst.Subscript() as target):
            return _root(target)
        case cst.Expr(value=cst.Call() as call):
            return _root_of_call(call)
        case _:
            return ""


def _root_of_call(node: cst.Call) -> str:
    """The object of a method that is called, or the only variable among the arguments."""
    passed = [arg.value for arg in node.args if isinstance(arg.value, cst.Name | cst.Attribute | cst.Subscript)]
    if isinstance(node.func, cst.Attribute):
        root = _root(node.func.value)
        if root and root not in ("self", "cls") and root[:1].islower() and not passed:
            return root
    roots = {_root(value) for value in passed} - {"self", "cls", "None", "True", "False", ""}
    if isinstance(node.func, cst.Attribute) and not roots:
        return _root(node.func.value)
    return roots.pop() if len(roots) == 1 else ""


def _root(node: cst.BaseExpression) -> str:
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def _is_used_after(piece: Piece, variable: str, change: Span) -> bool:
    """Whether what is changed is read afterwards, or all of its object: else a copy would be changed for nothing."""
    changed = _path_changed(piece, change)
    if changed.partition(".")[0] != variable:
        changed = ""  # by another name
    for node in piece.nodes():
        if not isinstance(node, cst.Name) or node.value != variable or piece.span(node)[:2] < change[2:]:
            continue
        top: cst.CSTNode = node
        whole: cst.CSTNode = node
        parent = piece.parent(top)
        while isinstance(parent, cst.Attribute | cst.Subscript) and parent.value is top:
            top, whole, parent = parent, top, piece.parent(parent)
        if isinstance(parent, cst.Call) and parent.func is top:
            top = whole  # a method uses all of its object
        elif isinstance(parent, cst.AssignTarget | cst.AugAssign | cst.Del):
            continue  # another change
        path = piece.code(top).partition("[")[0]  # whatever the keys are
        if not changed or path.startswith(changed) or changed.startswith(path):
            return True
    return False


def _path_changed(piece: Piece, change: Span) -> str:
    """What is assigned at a span; "" if something is done with an object as a whole."""
    for node in piece.nodes():
        if isinstance(node, cst.Assign | cst.AugAssign) and piece.span(node) == change:
            target = node.target if isinstance(node, cst.AugAssign) else node.targets[0].target
            return piece.code(target).partition("[")[0]
        if isinstance(node, cst.Attribute | cst.Subscript) and piece.span(node) == change:
            return piece.code(node).partition("[")[0]
    return ""


def _copy_variable(piece: Piece, names: Names, variable: str, change: Span) -> cst.CSTNode | None:
    """The tree in which a variable starts with a deep copy: where it is assigned, in the loop, or in the function."""
    owner = _function_around(piece, change)
    if owner is None:
        return None
    bound = [node for node in piece.nodes(owner.body) if _binds(node, variable)]
    if len(bound) > 1:
        return None
    if not bound:
        parameters = owner.params
        given = [p.name.value for p in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)]
        return _first_in(piece, names, owner.body, variable) if variable in given else None
    match bound[0]:
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value)
            | cst.AnnAssign(target=cst.Name(), value=cst.BaseExpression() as value)
        ):
            return _wrap(piece, names, _inside_copy(piece, value))
        case cst.For(body=body, asynchronous=None):
            return _first_in(piece, names, body, variable)
        case _:
            return None


def _inside_copy(piece: Piece, value: cst.BaseExpression) -> cst.BaseExpression:
    """What a shallow copy is of, or the expression itself."""
    match value:
        case cst.Call(args=[cst.Arg(value=inner, star="")]) if piece.code(value.func) in SHALLOW:
            return inner
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="copy")), args=[]):
            return inner
        case _:
            return value


def _function_around(piece: Piece, span: Span) -> cst.FunctionDef | None:
    found = None
    for node in piece.nodes():
        if isinstance(node, cst.FunctionDef) and piece.span(node).holds(span):
            found = node
    return found


def _binds(node: cst.CSTNode, variable: str) -> bool:
    match node:
        case cst.Assign(targets=targets):
            return any(_names(target.target, variable) for target in targets)
        case cst.AnnAssign(target=target) | cst.NamedExpr(target=target) | cst.For(target=target):
            return _names(target, variable)
        case cst.With(items=items):
            return any(item.asname is not None and _names(item.asname.name, variable) for item in items)
        case _:
            return False


def _names(target: cst.BaseExpression, variable: str) -> bool:
    match target:
        case cst.Name(value=name):
            return name == variable
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_names(element.value, variable) for element in elements)
        case _:
            return False


def _first_in(piece: Piece, names: Names, body: cst.BaseSuite, variable: str) -> cst.CSTNode | None:
    """The tree with `variable = copy.deepcopy(variable)` at the start of a block, behind its docstring."""
    if not isinstance(body, cst.IndentedBlock):
        return None
    function = names.deepcopy()
    if not function:
        return None
    line = cst.parse_statement(f"{variable} = {function}({variable})")
    statements = list(body.body)
    match statements[0]:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            statements.insert(1, line)
        case _:
            statements.insert(0, line)
    return piece.module.deep_replace(body, body.with_changes(body=statements))
