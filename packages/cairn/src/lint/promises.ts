/** Follows a promise through the expressions and variables around it, to where it is awaited, returned or lost. */
import type { Scope, SourceCode } from 'eslint';
import { CALLS_AT_ONCE, type FlowCodeScan } from './flow-code.ts';
import {
  type CallSyntax,
  type FunctionSyntax,
  functionAround,
  methodOf,
  originOf,
  parentOf,
  type Syntax,
  unwrapped,
  variableOf,
  wrapped,
} from './syntax.ts';

/** `forEach`: a method that does not wait for its callback. `value`: the promise is used as if it were its value. */
export type PromiseFate = 'used' | 'lost' | 'forEach' | 'value';

/** Functions that make one promise of several, or of one. */
export const COMBINATORS: ReadonlySet<string> = new Set(
  ['all', 'allSettled', 'any', 'race', 'resolve'].map((name) => `Promise.${name}`),
);
const OF_PROMISES = new Set(['then', 'catch', 'finally']);
const MAKES_ARRAYS = new Set(['map', 'flatMap']);
const ADDS = new Set(['push', 'unshift', 'add']);

export class Promises {
  readonly #source: SourceCode;
  readonly #code: FlowCodeScan;
  readonly #followed = new Set<Scope.Variable>();

  constructor(source: SourceCode, code: FlowCodeScan) {
    this.#source = source;
    this.#code = code;
  }

  /**
   * An expression that is not understood uses the promise.
   *
   * @param isArray it is not the promise, but an array or object of promises: to await that is not to wait
   */
  fateOf(expression: Syntax, isArray = false): PromiseFate {
    const node = wrapped(expression);
    const parent = parentOf(node);
    switch (parent?.type) {
      case 'ExpressionStatement':
        return 'lost';
      case 'AwaitExpression':
      case 'ReturnStatement':
        return this.#fateOfResult(functionAround(parent), isArray, parent.type === 'AwaitExpression');
      case 'ArrowFunctionExpression':
        return parent.body === node ? this.#fateOfResult(parent, isArray) : 'used';
      case 'UnaryExpression':
        // `void` marks it as intended.
        return parent.operator === 'void' ? 'used' : 'value';
      case 'BinaryExpression':
      case 'TemplateLiteral':
      case 'IfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'SwitchStatement':
        return 'value';
      case 'ConditionalExpression':
        return parent.test === node ? 'value' : this.fateOf(parent, isArray);
      case 'LogicalExpression':
        return this.fateOf(parent, isArray);
      case 'SequenceExpression':
        return parent.expressions.at(-1) === node ? this.fateOf(parent, isArray) : 'lost';
      case 'ArrayExpression':
      case 'SpreadElement':
        return this.fateOf(parent, true);
      case 'Property':
        return this.fateOf(parentOf(parent) ?? parent, true);
      case 'VariableDeclarator':
        return this.#fateOfAssigned(parent.id, isArray);
      case 'AssignmentExpression':
        return parent.operator === '=' ? this.#fateOfAssigned(parent.left, isArray) : 'used';
      case 'MemberExpression':
        return parent.object === node ? this.#fateOfMember(parent, isArray) : 'used';
      case 'CallExpression':
        return parent.callee === node ? 'used' : this.#fateOfArgument(parent);
      default:
        return 'used';
    }
  }

  /** @param isAwaited the function continues after it, so only the promise of the function remains */
  #fateOfResult(node: FunctionSyntax | undefined, isArray: boolean, isAwaited = false): PromiseFate {
    if (isArray && (isAwaited || (node && this.#code.isRoot(node)))) return 'value';
    return node && !this.#code.isRoot(node) ? this.#fateOfCallback(node, isArray) : 'used';
  }

  /** The fate of a callback's result, by its caller. A named function is called elsewhere. */
  #fateOfCallback(callback: FunctionSyntax, isArray: boolean): PromiseFate {
    const node = wrapped(callback);
    const call = parentOf(node);
    if (call?.type !== 'CallExpression') return 'used';
    if (call.callee === node) return this.fateOf(call, isArray);
    const method = methodOf(call) ?? '';
    if (OF_PROMISES.has(method)) return this.fateOf(call);
    if (method === 'from' && call.arguments[1] === node) return this.fateOf(call, true);
    if (call.arguments[0] !== node || !CALLS_AT_ONCE.has(method)) return 'used';
    if (method === 'forEach') return 'forEach';
    if (MAKES_ARRAYS.has(method)) return this.fateOf(call, true);
    return method.startsWith('reduce') ? 'used' : 'value';
  }

  #fateOfAssigned(target: Syntax, isArray: boolean): PromiseFate {
    // Members of a promise are not those of its value.
    if (target.type === 'ObjectPattern' || target.type === 'ArrayPattern') return isArray ? 'used' : 'value';
    const variable = target.type === 'Identifier' ? variableOf(this.#source, target) : undefined;
    if (!variable || this.#followed.has(variable)) return 'used';
    this.#followed.add(variable);
    const fates = variable.references
      .filter((reference) => reference.isRead())
      .map(({ identifier }) => this.fateOf(identifier as Syntax, isArray));
    this.#followed.delete(variable);
    return fates.includes('used') ? 'used' : (fates.find((fate) => fate !== 'lost') ?? 'lost');
  }

  #fateOfMember(member: Syntax, isArray: boolean): PromiseFate {
    if (isArray) return 'used';
    const callee = wrapped(member);
    const call = parentOf(callee);
    const isCalled = call?.type === 'CallExpression' && call.callee === callee;
    return isCalled && OF_PROMISES.has(methodOf(call) ?? '') ? this.fateOf(call) : 'value';
  }

  #fateOfArgument(call: CallSyntax): PromiseFate {
    if (COMBINATORS.has(originOf(this.#source, call.callee) ?? '')) return this.fateOf(call);
    const callee = unwrapped(call.callee);
    if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return 'used';
    if (!ADDS.has(methodOf(call) ?? '')) return 'used';
    const { object } = callee;
    const list = variableOf(this.#source, object);
    const isRead = list?.references.some(({ identifier }) => !isOnlyAddedTo(identifier as Syntax));
    return list && list.references.length > 0 && !isRead ? 'lost' : 'used';
  }
}

/** `list` of `list.push(…)`, and where it is declared. */
function isOnlyAddedTo(identifier: Syntax): boolean {
  const parent = parentOf(identifier);
  if (parent?.type === 'VariableDeclarator') return parent.id === identifier;
  const call = parent?.type === 'MemberExpression' ? parentOf(parent) : undefined;
  return call?.type === 'CallExpression' && call.callee === parent && ADDS.has(methodOf(call) ?? '');
}
