/**
 * Finds the code of flows in a file: functions given to `step.flow` and as `run` to `defineWorkflow`, functions that receive
 * the flow from them, and functions that they call themselves. Bodies of operations are excluded: they run once, and may do
 * anything.
 *
 * A function whose caller is unknown is left out, so that correct code is never reported.
 */
import type { Scope, SourceCode } from 'eslint';
import {
  type CallSyntax,
  definitionOf,
  type FunctionSyntax,
  functionAround,
  functionOf,
  type Identifier,
  importedFrom,
  isFunction,
  memberName,
  methodOf,
  nodesOf,
  parentOf,
  propertyOf,
  type Syntax,
  unwrapped,
  variableOf,
  wrapped,
} from './syntax.ts';

/** Methods of a flow that return promises, each with the index of the argument that is a body. */
const OPERATIONS: ReadonlyMap<string, number | undefined> = new Map([
  ['step', 1],
  ['map', 2],
  ['perform', undefined],
  ['sleep', undefined],
  ['event', undefined],
  ['approval', undefined],
  ['child', undefined],
  ['now', undefined],
  ['random', undefined],
]);
/** Functions of packages that carry out operations of the flow passed to them. */
const CARRIES_OUT = new Set(['@cairn/agents:runAgent']);
/** Functions of a loop that may be called several times for one turn. */
const CONDITIONS = ['state', 'while', 'pause'];
/** Methods that call their first argument before they return. */
export const CALLS_AT_ONCE = new Set([
  ...['every', 'filter', 'find', 'findIndex', 'findLast', 'flatMap', 'forEach', 'map', 'reduce'],
  ...['reduceRight', 'some', 'sort', 'toSorted'],
]);
const OF_PROMISES = new Set(['then', 'catch', 'finally']);
/** A file without any of these has no flow. */
const MAY_HAVE_FLOWS = /\b(?:defineWorkflow|[Ff]low|loop)\b/;

interface OperationCall {
  readonly call: CallSyntax;
  /** True if the call is in the body of another operation. */
  readonly isInBody: boolean;
}

export class FlowCodeScan {
  readonly #source: SourceCode;
  readonly #functions: FunctionSyntax[] = [];
  readonly #calls: CallSyntax[] = [];
  /** Variables that hold a flow, and those that hold a method of one. */
  readonly #flows = new Set<Scope.Variable>();
  readonly #methods = new Map<Scope.Variable, string>();
  /** Functions that the engine calls. */
  readonly #roots = new Set<FunctionSyntax>();
  readonly #code = new Set<FunctionSyntax>();
  readonly #bodies = new Set<FunctionSyntax>();
  readonly #conditions = new Set<FunctionSyntax>();
  readonly #operations = new Map<CallSyntax, string>();
  readonly #derived = new Map<Scope.Variable, boolean>();

  constructor(source: SourceCode) {
    this.#source = source;
    if (!MAY_HAVE_FLOWS.test(source.text)) return;
    for (const node of nodesOf(source, source.ast)) {
      if (isFunction(node)) this.#functions.push(node);
      if (node.type === 'CallExpression') this.#calls.push(node);
    }
    for (const call of this.#calls) this.#findRoots(call);
    for (const node of this.#functions) {
      for (const [at, param] of node.params.entries())
        if (this.#isTypedAsFlow(param)) this.#takeParam(node, at);
    }
    this.#findCode();
  }

  get operations(): OperationCall[] {
    return [...this.#operations.keys()].map((call) => ({ call, isInBody: this.#isInBody(call) }));
  }

  /** Calls of functions of this file, or of known packages, that carry out operations and return a promise. */
  get callsOfHelpers(): CallSyntax[] {
    return this.#calls.filter((call) => {
      if (this.#operations.has(call) || this.#isInBody(call)) return false;
      if (CARRIES_OUT.has(importedFrom(this.#source, call.callee) ?? '')) return true;
      const called = functionOf(this.#source, call.callee);
      return called?.async === true && unwrapped(call.callee) !== called && this.#asks(called);
    });
  }

  /** True in the time argument of a sleep, which is not compared in a replay and so may use the clock. */
  isTimeOfSleep(node: Syntax): boolean {
    for (let at = node, parent = parentOf(at); parent; at = parent, parent = parentOf(at)) {
      if (isFunction(at)) return false;
      if (parent.type !== 'CallExpression' || this.#operations.get(parent) !== 'sleep') continue;
      return parent.arguments[1] === at;
    }
    return false;
  }

  /** True for a function that the engine calls. */
  isRoot(node: FunctionSyntax): boolean {
    return this.#roots.has(node);
  }

  /** Caller of the code around a node: a flow, or a loop that may call it again; undefined for others. */
  runnerOf(node: Syntax): 'flow' | 'loop' | undefined {
    const around = functionAround(node);
    if (!around) return undefined;
    return this.#code.has(around) ? 'flow' : this.#conditions.has(around) ? 'loop' : undefined;
  }

  isCode(node: FunctionSyntax): boolean {
    return this.#code.has(node);
  }

  /** True if the expression may be or contain the promise of an operation, other than through an awaited value. */
  derives(expression: Syntax): boolean {
    for (const node of nodesOf(this.#source, expression)) {
      if (node.type !== 'Identifier' || isPropertyName(node)) continue;
      const variable = variableOf(this.#source, node);
      if (variable && !isAwaitedIn(node, expression) && this.#isDerived(variable)) return true;
    }
    return false;
  }

  #isDerived(variable: Scope.Variable): boolean {
    if (this.#flows.has(variable) || this.#methods.has(variable)) return true;
    const known = this.#derived.get(variable);
    if (known !== undefined) return known;
    this.#derived.set(variable, false);
    const values = variable.references.flatMap(({ writeExpr }) => (writeExpr ? [writeExpr as Syntax] : []));
    const definition = definitionOf(variable);
    if (definition?.type === 'FunctionName') values.push(definition.node as Syntax);
    const is =
      definition?.type === 'Parameter'
        ? this.#isDerivedParam(variable, definition.node as FunctionSyntax)
        : values.some((value) => this.derives(value));
    this.#derived.set(variable, is);
    return is;
  }

  /** A parameter counts as derived if its callers are unknown. */
  #isDerivedParam({ identifiers: [name] }: Scope.Variable, node: FunctionSyntax): boolean {
    if (this.#roots.has(node)) return false;
    if (isCalledAtOnce(node)) {
      const call = parentOf(wrapped(node));
      return call?.type === 'CallExpression' && this.derives(call.callee);
    }
    const at = node.params.indexOf(name as FunctionSyntax['params'][number]);
    const calls = this.#callsOf(node);
    return calls.length === 0 || calls.some(({ arguments: given }) => !given[at] || this.derives(given[at]));
  }

  #findRoots({ callee, arguments: given }: CallSyntax): void {
    const name = unwrapped(callee);
    const [first, second, third] = given.map(unwrapped);
    if (!first) return;
    const called = name.type === 'Identifier' ? name.name : memberName(name);
    if (called === 'defineWorkflow') this.#addRoot(propertyOf(first, 'run'));
    else if (name.type !== 'MemberExpression' || !second) return;
    // A `flow` of other libraries takes functions only.
    else if (called === 'flow' && third && (isText(first) || second.type === 'ObjectExpression')) {
      this.#addRoot(third);
    } else if (called === 'loop' && propertyOf(second, 'while') && propertyOf(second, 'body')) {
      for (const condition of CONDITIONS) {
        const value = propertyOf(second, condition);
        const found = value && functionOf(this.#source, value);
        if (found) this.#conditions.add(found);
      }
    }
  }

  #addRoot(expression: Syntax | undefined): void {
    const found = expression && functionOf(this.#source, expression);
    if (!found) return;
    this.#roots.add(found);
    this.#takeParam(found, 0);
  }

  /** A function that receives a flow is code of the flow. */
  #takeParam(node: FunctionSyntax, at: number): void {
    this.#code.add(node);
    this.#takeFlow(node.params[at]);
  }

  /** `flow: Flow<Input>`, with the type of the package. */
  #isTypedAsFlow(param: Syntax): boolean {
    type TypedSyntax = { typeAnnotation?: { typeAnnotation?: { type: string; typeName?: Syntax } } };
    const type = (param as TypedSyntax).typeAnnotation?.typeAnnotation;
    if (type?.type !== 'TSTypeReference' || type.typeName?.type !== 'Identifier') return false;
    // Sets the parent, because parsers may not set it for types.
    return importedFrom(this.#source, Object.assign({}, type.typeName, { parent: param })) === 'cairn:Flow';
  }

  /** The target is assigned a flow, or members of a flow. */
  #takeFlow(target: Syntax | undefined): void {
    if (target?.type === 'AssignmentPattern') this.#takeFlow(target.left);
    if (target?.type === 'Identifier') {
      const variable = variableOf(this.#source, target);
      if (!variable || this.#flows.has(variable)) return;
      this.#flows.add(variable);
      for (const { identifier } of variable.references) this.#followFlow(identifier as Identifier);
    }
    if (target?.type !== 'ObjectPattern') return;
    for (const property of target.properties) {
      if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
      const { key, value } = property;
      const variable = value.type === 'Identifier' ? variableOf(this.#source, value) : undefined;
      if (!variable || !OPERATIONS.has(key.name)) continue;
      this.#methods.set(variable, key.name);
      for (const { identifier } of variable.references) this.#findOperation(identifier as Syntax, key.name);
    }
  }

  #followFlow(identifier: Identifier): void {
    const node = wrapped(identifier);
    const parent = parentOf(node);
    if (parent?.type === 'MemberExpression' && parent.object === node) {
      const name = memberName(parent);
      if (name !== undefined && OPERATIONS.has(name)) this.#findOperation(parent, name);
    } else if (parent?.type === 'VariableDeclarator' && parent.init === node) this.#takeFlow(parent.id);
    else if (parent?.type === 'CallExpression' && parent.callee !== node) {
      const called = functionOf(this.#source, parent.callee);
      const at = parent.arguments.indexOf(node as CallSyntax['arguments'][number]);
      if (called) this.#takeParam(called, at);
    }
  }

  #findOperation(reference: Syntax, name: string): void {
    const callee = wrapped(reference);
    const call = parentOf(callee);
    if (call?.type !== 'CallExpression' || call.callee !== callee) return;
    this.#operations.set(call, name);
    const at = OPERATIONS.get(name);
    const given = at === undefined ? undefined : call.arguments[at];
    const body = given && functionOf(this.#source, given);
    if (body) this.#bodies.add(body);
  }

  #findCode(): void {
    // A function that requests an operation is code of a flow, whatever its caller.
    for (const call of this.#operations.keys()) {
      const around = functionAround(call);
      if (around && !this.#isInBody(call)) this.#code.add(around);
    }
    for (let size = -1; size !== this.#code.size; ) {
      size = this.#code.size;
      for (const node of this.#functions) if (this.#isRunByCode(node)) this.#code.add(node);
    }
  }

  #isRunByCode(node: FunctionSyntax): boolean {
    const outer = functionAround(node);
    if (!outer || !this.#code.has(outer) || this.#bodies.has(node)) return false;
    if (isCalledAtOnce(node)) return true;
    return this.#callsOf(node).some((call) => {
      const around = functionAround(call);
      return around !== undefined && around !== node && this.#code.has(around);
    });
  }

  /** Calls of a function by the name it is declared with. */
  #callsOf(node: FunctionSyntax): CallSyntax[] {
    const parent = parentOf(wrapped(node));
    const name =
      node.type === 'FunctionDeclaration'
        ? node.id
        : parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier'
          ? parent.id
          : undefined;
    const variable = name && variableOf(this.#source, name);
    return (variable?.references ?? []).flatMap(({ identifier }) => {
      const callee = wrapped(identifier as Syntax);
      const call = parentOf(callee);
      return call?.type === 'CallExpression' && call.callee === callee ? [call] : [];
    });
  }

  #isInBody(node: Syntax): boolean {
    for (let at = functionAround(node); at; at = functionAround(at)) if (this.#bodies.has(at)) return true;
    return false;
  }

  /** True if the function, or code that it runs itself, has operations. */
  #asks(node: FunctionSyntax): boolean {
    return [...this.#operations.keys()].some((call) => {
      for (let at = functionAround(call); at && this.#code.has(at); at = functionAround(at)) {
        if (at === node) return true;
      }
      return false;
    });
  }
}

/** True if the function is called at once: a callback of an array or a promise, or `(async () => { … })()`. */
function isCalledAtOnce(node: FunctionSyntax): boolean {
  const outer = wrapped(node);
  const parent = parentOf(outer);
  if (parent?.type === 'NewExpression') return isNamed(parent.callee, 'Promise');
  if (parent?.type !== 'CallExpression') return false;
  if (parent.callee === outer) return true;
  const method = methodOf(parent) ?? '';
  if (OF_PROMISES.has(method)) return true;
  if (method === 'from') return parent.arguments[1] === outer;
  return CALLS_AT_ONCE.has(method) && parent.arguments[0] === outer;
}

function isText(node: Syntax): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

function isNamed(node: Syntax, name: string): boolean {
  return node.type === 'Identifier' && node.name === name;
}

/** `b` of `a.b` and of `{ b: 1 }`: no variable. */
function isPropertyName(node: Identifier): boolean {
  const parent = parentOf(node);
  if (parent?.type === 'MemberExpression') return parent.property === node && !parent.computed;
  return parent?.type === 'Property' && parent.key === node && !parent.computed && !parent.shorthand;
}

/** True if the expression awaits the node. A function in between does not count, because it returns a promise. */
function isAwaitedIn(node: Syntax, expression: Syntax): boolean {
  let isAwaited = false;
  for (let at: Syntax | undefined = node; at; at = at === expression ? undefined : parentOf(at)) {
    if (isFunction(at)) return false;
    if (at.type === 'AwaitExpression') isAwaited = true;
  }
  return isAwaited;
}

const known = new WeakMap<SourceCode, FlowCodeScan>();

/** Computes the result once for all rules. */
export function flowCodeOf(source: SourceCode): FlowCodeScan {
  const code = known.get(source) ?? new FlowCodeScan(source);
  known.set(source, code);
  return code;
}
