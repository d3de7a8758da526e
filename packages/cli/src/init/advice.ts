/** Finds settings of a project that take in the folder that `init` makes, for a person to change: `init` edits no more than it says. Pure. */
import type { Project } from './project.ts';
import { isCompiled } from './tsconfig.ts';

interface AddedFolder {
  readonly name: string;
  /** Paths of its files. */
  readonly files: readonly string[];
}

/** By firebase-tools, of a codebase without `ignore`. */
const IGNORED_BY_DEFAULT = ['node_modules', '.git'];

/** Sentences, none for most projects. */
export function adviceOf({ codebases, compiled }: Project, { name, files }: AddedFolder): string[] {
  const whole = codebases.filter(({ source }) => /^\.\/?$/.test(source));
  const added = [name, '.cairn'];
  return [
    ...(compiled && files.some((path) => isTypeScript(path) && isCompiled(path, compiled))
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

const isTypeScript = (path: string) => /\.[mc]?ts$/.test(path);

const listed = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** `./cairn/` and `cairn/**` count as `cairn`. */
const plain = (path: string) => path.replace(/^\.\//, '').replace(/(?<=.)\/(?:\*.*)?$/, '');
