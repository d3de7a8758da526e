/**
 * Reads `firebase.json` and adds the entries of `init`. Edits the text, so that comments, order and formatting of the rest stay.
 * Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { isMembers, laidOut } from './json.ts';
import { InitProblem } from './problem.ts';

type FirebaseMembers = Readonly<Record<string, unknown>>;

export interface FirebaseJson {
  readonly functions: readonly FirebaseMembers[];
  readonly firestore: readonly FirebaseMembers[];
  /** Unchanged: an object, a list of them, or anything else. */
  readonly hosting?: unknown;
}

/** Entries to add: a codebase to `functions`, a database to `firestore`. */
export interface Entries {
  readonly functions: FirebaseMembers;
  readonly firestore: FirebaseMembers;
}

type FirebaseSection = keyof Entries;

/** @throws InitProblem FIREBASE_JSON_INVALID with the place */
export function readFirebaseJson(text: string): FirebaseJson {
  const root = rootOf(unmarked(text).text);
  return {
    functions: entriesOf(root, 'functions'),
    firestore: entriesOf(root, 'firestore'),
    hosting: contentOf(findNodeAtLocation(root, ['hosting'])),
  };
}

/** @param marked text without these entries */
export function withEntries(marked: string, entries: Entries): string {
  const { mark, text } = unmarked(marked);
  const served = added(text, 'functions', entries.functions);
  const isUnnamed = valueAt(served, ['firestore']) !== undefined && !isArray(valueAt(served, ['firestore']));
  const first = isUnnamed ? named(served) : served;
  return mark + added(first, 'firestore', entries.firestore);
}

export interface Removed {
  readonly text: string;
  /** Sections whose entry was edited since `init`, and therefore left. */
  readonly left: readonly FirebaseSection[];
}

/** Removes the unchanged entries of `init`. Undefined if the file cannot be parsed, or has a key twice. */
export function withoutEntries(marked: string, entries: Entries): Removed | undefined {
  const { mark, text } = unmarked(marked);
  const { root, errors } = parsed(text);
  if (errors.length > 0 || (root && repeatedKey(root)) !== undefined) return undefined;
  const codebase = { section: 'functions', key: 'codebase' } as const;
  const database = { section: 'firestore', key: 'database' } as const;
  let result = text;
  const left: FirebaseSection[] = [];
  for (const { section, key } of [codebase, database]) {
    const list = valueAt(result, [section]);
    const all: readonly unknown[] = isArray(list) ? list : [list];
    const place = all.findIndex((one) => isDeepStrictEqual(one, entries[section]));
    const isOurs = (one: unknown) => isMembers(one) && one[key] === entries[section][key];
    if (place < 0 && all.some(isOurs)) left.push(section);
    if (place < 0) continue;
    result =
      isArray(list) && list.length > 1 ? withoutItem(result, section, place) : without(result, section);
  }
  return { text: mark + result, left };
}

/** Windows editors begin a file with a byte order mark. firebase-tools ignores it, but the parser does not accept it. */
function unmarked(text: string): { readonly mark: string; readonly text: string } {
  return text.startsWith('\uFEFF') ? { mark: '\uFEFF', text: text.slice(1) } : { mark: '', text };
}

function without(text: string, section: FirebaseSection): string {
  return applyEdits(text, modify(text, [section], undefined, {}));
}

/** Does not use `modify`, which assumes its own formatting of lists and damages others. */
function withoutItem(text: string, section: FirebaseSection, place: number): string {
  const { children = [] } = findNodeAtLocation(rootOf(text), [section]) ?? {};
  const [previous, item, next] = [children[place - 1], children[place], children[place + 1]];
  if (item === undefined) return text;
  const comment = previous && text[endOf(previous)] === ',' ? commentAt(text, endOf(previous) + 1) : '';
  if (previous && comment !== '') {
    const after = text.slice(endOf(item));
    const isApart = /^[ \t]*\r?\n/.test(after);
    const line = styleOf(text).eol + indentOf(text, previous.offset);
    return text.slice(0, endOf(previous)) + comment + (isApart ? '' : line) + after;
  }
  // Includes the comma before the item, or after it if it is the first.
  const from = previous ? endOf(previous) : item.offset;
  const to = previous || !next ? endOf(item) : next.offset;
  return text.slice(0, from) + text.slice(to);
}

function entriesOf(root: Node, section: FirebaseSection): FirebaseMembers[] {
  const value: unknown = contentOf(findNodeAtLocation(root, [section]));
  if (value === undefined) return [];
  const list: readonly unknown[] = isArray(value) ? value : [value];
  const bad = list.find((one) => !isMembers(one));
  if (bad !== undefined) throw invalid(`'${section}' must be an object or a list of objects`);
  return list as FirebaseMembers[];
}

/** An entry of a list must name its database. */
function named(text: string): string {
  if (valueAt(text, ['firestore', 'database']) !== undefined) return text;
  if (valueAt(text, ['firestore', 'target']) !== undefined) return text;
  const entry = findNodeAtLocation(rootOf(text), ['firestore']);
  if (entry === undefined) return text;
  const member = '"database": "(default)"';
  const [first] = entry.children ?? [];
  if (first === undefined) return appended(text, entry, member);
  return applyEdits(text, [
    { offset: first.offset, length: 0, content: member + separatorAt(text, first.offset) },
  ]);
}

/** Appends to the list; an object in its place becomes the first item of a list, with its text unchanged. */
function added(text: string, section: FirebaseSection, entry: FirebaseMembers): string {
  const { unit } = styleOf(text);
  const root = rootOf(text);
  const node = findNodeAtLocation(root, [section]);
  if (node === undefined)
    return appended(text, root, `"${section}": ${laidOut([entry], { unit, columns: unit.length })}`);
  const shown = laidOut(entry, { unit, columns: 2 * unit.length });
  if (node.type === 'array') return appended(text, node, shown);
  const edits: Edit[] = [
    { offset: node.offset, length: 0, content: '[' },
    { offset: endOf(node), length: 0, content: `, ${indented(text, node.offset, shown)}]` },
  ];
  return applyEdits(text, edits);
}

/**
 * Adds the last child of an object or a list, in the layout of the one before it. Does not use `modify`, which reformats the
 * other children.
 */
function appended(text: string, parent: Node, child: string): string {
  const last = parent.children?.at(-1);
  if (last === undefined) return appendedFirst(text, parent, child);
  const separator = separatorAt(text, last.offset);
  const shown = indented(text, last.offset, child);
  const comment = startsLine(text, last.offset) ? commentAt(text, endOf(last)) : '';
  if (comment === '')
    return applyEdits(text, [{ offset: endOf(last), length: 0, content: separator + shown }]);
  // The comment stays in the line of the child before.
  return applyEdits(text, [
    { offset: endOf(last), length: 0, content: ',' },
    { offset: endOf(last) + comment.length, length: 0, content: separator.slice(1) + shown },
  ]);
}

/** A comment from this place to the end of the line, with the white space before it; otherwise empty. */
function commentAt(text: string, offset: number): string {
  return (
    /^[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)(?=[ \t]*\r?\n)/.exec(text.slice(offset))?.[0] ?? ''
  );
}

function appendedFirst(text: string, parent: Node, child: string): string {
  const { eol, unit } = styleOf(text);
  const offset = parent.offset + 1;
  const indent = indentOf(text, parent.offset);
  const shown = `${eol}${indent}${unit}${indented(text, parent.offset, child).replaceAll('\n', `\n${unit}`)}`;
  const isClosedBelow = text.slice(offset, endOf(parent)).includes('\n');
  return applyEdits(text, [
    { offset, length: 0, content: isClosedBelow ? shown : `${shown}${eol}${indent}` },
  ]);
}

/** Separates a child at this place from the next one. */
function separatorAt(text: string, offset: number): string {
  return startsLine(text, offset) ? `,${styleOf(text).eol}${indentOf(text, offset)}` : ', ';
}

/** JSON of several lines, with the indentation of the line at this place. */
function indented(text: string, offset: number, shown: string): string {
  return shown.replaceAll('\n', styleOf(text).eol + indentOf(text, offset));
}

const endOf = ({ offset, length }: Node) => offset + length;

function startsLine(text: string, offset: number): boolean {
  return lineBefore(text, offset).trim() === '';
}

/** White space at the beginning of the line. */
function indentOf(text: string, offset: number): string {
  return /^[ \t]*/.exec(lineBefore(text, offset))?.[0] ?? '';
}

function lineBefore(text: string, offset: number): string {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
}

/** The style of the file: the first indented line decides. */
function styleOf(text: string): { readonly eol: string; readonly unit: string } {
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ' };
}

function formatOf(text: string) {
  const { eol, unit } = styleOf(text);
  return { eol, insertSpaces: !unit.startsWith('\t'), tabSize: unit.startsWith('\t') ? 1 : unit.length };
}

function rootOf(text: string): Node {
  const { root, errors } = parsed(text);
  const [first] = errors;
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length;
    throw invalid(`it is not JSON: ${printParseErrorCode(first.error)} in line ${line}`);
  }
  if (root?.type !== 'object') throw invalid('it is no JSON object');
  const repeated = repeatedKey(root);
  if (repeated === undefined) return root;
  const line = text.slice(0, repeated.offset).split('\n').length;
  throw invalid(`it has the key '${repeated.value}' a second time in line ${line}, in the same object`);
}

const READ = ['functions', 'firestore', 'hosting'];
const EDITED = ['functions', 'firestore'];

/** A key that occurs twice where `init` reads or edits: firebase-tools uses the last one, the parser edits the first. */
function repeatedKey(root: Node): Node | undefined {
  const members = root.type === 'object' ? (root.children ?? []) : [];
  const named = (names: readonly string[]) => members.filter((one) => names.includes(keyOf(one)?.value));
  return secondOf(named(READ)) ?? firstOf(named(EDITED), repeatedBelow);
}

function repeatedBelow(node: Node): Node | undefined {
  const { type, children = [] } = node;
  return (type === 'object' ? secondOf(children) : undefined) ?? firstOf(children, repeatedBelow);
}

function secondOf(members: readonly Node[]): Node | undefined {
  const keys = members.flatMap((member) => keyOf(member) ?? []);
  return keys.find(({ value }, at) => keys.findIndex((one) => one.value === value) < at);
}

const keyOf = ({ children }: Node): Node | undefined => children?.[0];

function firstOf(nodes: readonly Node[], find: (node: Node) => Node | undefined): Node | undefined {
  for (const node of nodes) {
    const found = find(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the text of another JSON file with the member set. */
export function withMember(text: string, path: JSONPath, value: string): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions: formatOf(text) }));
}

/** The parseable content of another file, such as `tsconfig.json`; undefined if there is none. */
export function readableJson(text: string): unknown {
  return contentOf(parsed(text).root);
}

/** Comments are allowed, as firebase-tools allows them. */
function parsed(text: string): { readonly root: Node | undefined; readonly errors: ParseError[] } {
  const errors: ParseError[] = [];
  return { root: parseTree(text, errors), errors };
}

function valueAt(text: string, path: JSONPath): unknown {
  const { root } = parsed(text);
  return root && contentOf(findNodeAtLocation(root, path));
}

/** Uses `JSON.parse`, because the parser's objects have no prototype and so equal no others. */
function contentOf(node: Node | undefined): unknown {
  return node && JSON.parse(JSON.stringify(getNodeValue(node)));
}

function invalid(what: string): InitProblem {
  return new InitProblem(
    'FIREBASE_JSON_INVALID',
    `firebase.json cannot be used: ${what}`,
    'Correct it, then run cairn init again. Nothing was changed.',
  );
}

const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);
