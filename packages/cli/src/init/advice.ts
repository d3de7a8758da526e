/** Finds settings of a project that take in the folder that `init` makes, for a person to change: `init` edits no more than it says. Pure. */
import type { Language, Project } from './project.ts';

interface AddedFolder {
  readonly name: string;
  readonly language: Language;
}

/** By firebase-tools, of a codebase without `ignore`. */
const IGNORED_BY_DEFAULT = ['node_modules', '.git'];

/** Sentences, none for most projects. */
export function adviceOf({ codebases, tsconfig }: Project, { name, language }: AddedFolder): string[] {
  const whole = codebases.filter(({ source }) => /^\.\/?$/.test(source));
  const added = [name, '.cairn'];
  return [
    ...(language === 'ts' && takesIn(tsconfig, name)
      ? [
          `The tsconfig.json beside firebase.json takes in ${name}/, which has its own: add "${name}" to its "exclude".`,
        ]
      : []),
    ...whole.flatMap(({ name: codebase, ignore }) => {
      if (added.every((one) => listed(ignore).some((pattern) => plain(pattern) === one))) return [];
      const what =
        ignore === undefined
          ? `set its "ignore" in firebase.json to ${JSON.stringify([...IGNORED_BY_DEFAULT, ...added])}`
          : `add "${name}" and ".cairn" to its "ignore" in firebase.json`;
      return `The codebase '${codebase}' is this whole folder: ${what}, or its deployments upload them too.`;
    }),
  ];
}

/** True for the usual forms of settings that take in every folder. */
function takesIn(tsconfig: unknown, name: string): boolean {
  if (typeof tsconfig !== 'object' || tsconfig === null || Array.isArray(tsconfig)) return false;
  const { files, include, exclude } = tsconfig as Readonly<Record<string, unknown>>;
  const isLeftOut = listed(exclude).some((one) => plain(one) === name);
  if (isLeftOut || (include === undefined && files !== undefined)) return false;
  return include === undefined || listed(include).some((one) => /^(?:\*|\.$)/.test(plain(one)));
}

const listed = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** `./cairn/` and `cairn/**` count as `cairn`. */
const plain = (path: string) => path.replace(/^\.\//, '').replace(/(?<=.)\/(?:\*.*)?$/, '');
