import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { apply, removeUnplaced, undo } from '../../../packages/cli/src/init/edits.ts';
import { type Files, readingOnly } from '../../../packages/cli/src/init/files.ts';
import {
  readFirebaseJson,
  withEntries,
  withoutEntries,
} from '../../../packages/cli/src/init/firebase-json.ts';
import { planOf } from '../../../packages/cli/src/init/plan.ts';
import type { Project } from '../../../packages/cli/src/init/project.ts';
import { decodeRecord, recordPath } from '../../../packages/cli/src/init/record.ts';
import { temporaryProject, withPackage } from './project.ts';

const installed: Project['installed'] = {
  version: '0.2.0',
  dependencies: { zod: '4.6.7', 'firebase-functions': '7.4.0' },
};

/** A realistic `firebase.json`: any formatting, comments, sections of other products. */
const firebaseJson = fc
  .record(
    {
      hosting: fc.record({ public: fc.constantFrom('public', 'dist') }),
      firestore: fc.oneof(
        fc.record({ rules: fc.constant('firestore.rules') }, { requiredKeys: [] }),
        fc.array(fc.record({ database: fc.constantFrom('(default)', 'other'), rules: fc.string() }), {
          maxLength: 2,
        }),
      ),
      functions: fc.oneof(
        fc.record(
          { source: fc.constantFrom('functions', 'api'), runtime: fc.string() },
          { requiredKeys: ['source'] },
        ),
        fc.array(fc.record({ source: fc.constantFrom('a', 'b'), codebase: fc.constantFrom('a', 'b') }), {
          maxLength: 3,
        }),
      ),
      emulators: fc.record({ ui: fc.record({ enabled: fc.boolean() }) }),
    },
    { requiredKeys: [] },
  )
  .chain((value) =>
    fc
      .record({
        indent: fc.constantFrom('', '  ', '    ', '\t'),
        eol: fc.constantFrom('\n', '\r\n'),
        head: fc.constantFrom('', '\uFEFF', '// ours\n', '/* é */ '),
        end: fc.constantFrom('', '\n', '\n\n'),
      })
      .map(({ indent, eol, head, end }) => ({
        value,
        text: `${head}${JSON.stringify(value, null, indent)}${end}`.replaceAll('\n', eol),
      })),
  );

const gitignore = fc.option(
  fc
    .array(
      fc.constantFrom('node_modules/', '/node_modules', '.cairn/', '/cairn/lib', 'lib', '*.log', '# é', ''),
      { maxLength: 5 },
    )
    .chain((lines) => fc.constantFrom('\n', '\r\n').map((eol) => lines.join(eol))),
  { nil: undefined },
);

/** Parses like firebase-tools, which ignores a byte order mark. */
const contentOf = (text: string) => parse(text.replace(/^\uFEFF/, ''));

function projectOf(text: string, ignored: string | undefined): Project {
  const read = readFirebaseJson(text);
  return {
    firebaseJson: { text, read },
    gitignore: ignored,
    compiled: undefined,
    workspaces: undefined,
    codebases: read.functions.map(({ source, codebase }) => ({
      source: String(source),
      name: String(codebase ?? 'default'),
      language: 'js',
      prefix: undefined,
      ignore: undefined,
      entryTexts: [],
    })),
    installed,
    packageManager: 'npm',
  };
}

/** A folder in memory; optionally the n-th change fails. */
class MemoryFiles implements Files {
  readonly contents = new Map<string, string>();
  failsAt = Number.POSITIVE_INFINITY;
  dies = false;
  changes = 0;

  constructor(files: Readonly<Record<string, string | undefined>>) {
    for (const [path, text] of Object.entries(files)) if (text !== undefined) this.contents.set(path, text);
  }

  #changing(): void {
    this.changes += 1;
    if (this.changes === this.failsAt) throw new Error('EIO: i/o error');
    if (this.dies && this.changes > this.failsAt) throw new Error('the process is gone');
  }

  read(path: string): Uint8Array | undefined {
    const text = this.contents.get(path);
    return text === undefined ? undefined : Buffer.from(text);
  }

  exists(path: string): boolean {
    return [...this.contents.keys()].some((one) => one === path || one.startsWith(`${path}/`));
  }

  isFolder(path: string): boolean {
    return !this.contents.has(path) && this.exists(path);
  }

  names(folder: string): readonly string[] {
    const below = [...this.contents.keys()].filter((path) => path.startsWith(`${folder}/`));
    return [...new Set(below.map((path) => path.slice(folder.length + 1).split('/')[0] ?? ''))];
  }

  write(path: string, content: Uint8Array): void {
    this.#changing();
    this.contents.set(path, Buffer.from(content).toString('utf8'));
  }

  rename(from: string, to: string): void {
    this.#changing();
    this.contents.set(to, this.contents.get(from) ?? '');
    this.contents.delete(from);
  }

  remove(path: string): void {
    if (this.dies) this.#changing();
    this.contents.delete(path);
  }

  removeAll(path: string): void {
    for (const one of [...this.contents.keys()])
      if (one === path || one.startsWith(`${path}/`)) this.remove(one);
  }

  makeFolder(): readonly string[] {
    return [];
  }

  removeFolder(): void {}
}

const options = { name: 'cairn', language: undefined, nodeVersion: '24.0.0', isTaken: false };

test('any project keeps its own entries, and is restored byte for byte', () => {
  fc.assert(
    fc.property(firebaseJson, gitignore, ({ value, text }, ignored) => {
      const files = new MemoryFiles({ 'firebase.json': text, '.gitignore': ignored });
      const before = new Map(files.contents);
      apply(planOf(projectOf(text, ignored), options).changes, files);
      const after = files.contents.get('firebase.json') ?? '';
      const { functions = [], firestore = [], ...rest } = contentOf(after);
      const { functions: f = [], firestore: d = [], ...others } = value;
      expect(rest).toEqual(others);
      expect(functions.slice(0, -1)).toEqual([f].flat());
      const databases = [d].flat().map((one) => ({ database: '(default)', ...one }));
      expect(firestore.slice(0, -1)).toEqual(databases);
      const record = decodeRecord(files.contents.get(recordPath('cairn')) ?? '', 'cairn');
      expect(undo(record, files).left).toEqual([]);
      expect(files.contents).toEqual(before);
    }),
    { numRuns: 300 },
  );
});

test('the rest of firebase.json keeps its layout, and what is added has the indentation of the file', () => {
  const entries = {
    // Too long for one line.
    functions: { source: 'cairn', ignore: ['a'.repeat(80)] },
    firestore: { database: 'cairn' },
  };
  const indents = fc.constantFrom('  ', '    ', '\t');
  fc.assert(
    fc.property(firebaseJson, indents, ({ value }, indent) => {
      const { functions, firestore } = value;
      const shown = (one: unknown) => JSON.stringify(one, null, indent).replaceAll('\n', `\n${indent}`);
      // An object becomes the first item of a list in its line.
      const added = (section: object | readonly object[] = [], entry: object) =>
        Array.isArray(section) ? shown([...section, entry]) : `[${shown(section)}, ${shown(entry)}]`;
      const named = Array.isArray(firestore)
        ? firestore
        : firestore && { database: '(default)', ...firestore };
      const members = {
        ...Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shown(one)])),
        functions: added(functions, entries.functions),
        firestore: added(named, entries.firestore),
      };
      const lines = Object.entries(members).map(([key, text]) => `${indent}"${key}": ${text}`);
      expect(withEntries(JSON.stringify(value, null, indent), entries)).toBe(`{\n${lines.join(',\n')}\n}`);
    }),
  );
});

test('an undo keeps and reports other files in the folder; a subfolder is reported once', () => {
  const own = fc.uniqueArray(
    fc.constantFrom(
      'cairn/notes.md',
      'cairn/.env',
      'cairn/src/order.js',
      'cairn/src/workflows/a.js',
      'cairn/src/hooks/a.js',
      'cairn/src/hooks/b.js',
      'cairn/src-two/index.js',
      'cairn/lib/index.js',
      'cairn-two/notes.md',
    ),
  );
  fc.assert(
    fc.property(firebaseJson, own, ({ text }, paths) => {
      const files = new MemoryFiles({ 'firebase.json': text });
      apply(planOf(projectOf(text, undefined), options).changes, files);
      for (const path of paths) files.contents.set(path, 'theirs');
      const record = decodeRecord(files.contents.get(recordPath('cairn')) ?? '', 'cairn');
      const previewed = undo(record, readingOnly(files));
      expect(undo(record, files)).toEqual(previewed);
      const theirs = paths.filter((path) => !path.startsWith('cairn-two/'));
      const shown = theirs.map((path) => path.replace(/^(cairn\/(?:src-two|lib|src\/hooks))\/.*/, '$1'));
      expect(previewed.left.map(({ path }) => path)).toEqual([...new Set(shown)].sort());
      for (const path of paths) expect(files.contents.get(path)).toBe('theirs');
    }),
  );
});

test('an undo that fails at any write is completed by the next', () => {
  fc.assert(
    fc.property(firebaseJson, gitignore, fc.integer({ min: 1, max: 6 }), ({ text }, ignored, failsAt) => {
      const files = new MemoryFiles({ 'firebase.json': text, '.gitignore': ignored });
      const before = new Map(files.contents);
      apply(planOf(projectOf(text, ignored), options).changes, files);
      const record = decodeRecord(files.contents.get(recordPath('cairn')) ?? '', 'cairn');
      files.changes = 0;
      files.failsAt = failsAt;
      try {
        undo(record, files);
      } catch (error) {
        expect(error).toMatchObject({ code: 'WRITE_FAILED' });
        expect(files.contents.has(recordPath('cairn'))).toBe(true);
        undo(record, files);
      }
      expect(files.contents).toEqual(before);
    }),
  );
});

test('entries are removed from any file edited since', () => {
  fc.assert(
    fc.property(firebaseJson, fc.boolean(), ({ value, text }, isFirst) => {
      const entries = {
        functions: { source: 'cairn', codebase: 'cairn' },
        firestore: { database: 'cairn', rules: 'cairn/firestore.rules' },
      };
      const added = withEntries(text, entries);
      const { functions, firestore } = contentOf(added);
      // The user may have moved them to the front.
      const moved = JSON.stringify({
        ...contentOf(added),
        functions: functions.toReversed(),
        firestore: firestore.toReversed(),
      });
      const removed = withoutEntries(isFirst ? moved : added, entries);
      expect(removed?.left).toEqual([]);
      const { functions: f, firestore: d, ...others } = value;
      const read = readFirebaseJson(removed?.text ?? '');
      const inOrder = isFirst ? read.functions.toReversed() : read.functions;
      expect(inOrder).toEqual([f ?? []].flat());
      expect(read.firestore).toHaveLength([d ?? []].flat().length);
      expect(contentOf(removed?.text ?? '')).toMatchObject(others);
    }),
  );
});

test('a failure of any write leaves the project as it was', () => {
  fc.assert(
    fc.property(firebaseJson, gitignore, fc.integer({ min: 1, max: 18 }), ({ text }, ignored, failsAt) => {
      const files = new MemoryFiles({ 'firebase.json': text, '.gitignore': ignored });
      const before = new Map(files.contents);
      files.failsAt = failsAt;
      const { changes } = planOf(projectOf(text, ignored), options);
      if (failsAt > 2 * changes.length) return;
      expect(() => apply(changes, files)).toThrow('EIO');
      expect(files.contents).toEqual(before);
    }),
  );
});

test('a process that dies at any write leaves a state that --undo or the next init restores', () => {
  fc.assert(
    fc.property(firebaseJson, gitignore, fc.integer({ min: 1, max: 18 }), ({ text }, ignored, failsAt) => {
      const files = new MemoryFiles({ 'firebase.json': text, '.gitignore': ignored });
      const before = new Map(files.contents);
      Object.assign(files, { failsAt, dies: true });
      const { changes } = planOf(projectOf(text, ignored), options);
      if (failsAt > 2 * changes.length) return;
      expect(() => apply(changes, files)).toThrow();
      files.dies = false;
      const recorded = files.contents.get(recordPath('cairn'));
      if (recorded !== undefined) undo(decodeRecord(recorded, 'cairn'), files);
      else removeUnplaced('cairn', files);
      expect(files.contents).toEqual(before);
    }),
  );
});

describe('in a real folder', () => {
  const projects: ReturnType<typeof temporaryProject>[] = [];
  afterAll(() => {
    for (const project of projects) project.dispose();
  });

  test('a second init changes nothing, and undo restores', async () => {
    await fc.assert(
      fc.asyncProperty(firebaseJson, gitignore, async ({ text }, ignored) => {
        const project = temporaryProject(
          withPackage({ 'firebase.json': text, ...(ignored !== undefined && { '.gitignore': ignored }) }),
        );
        projects.push(project);
        const before = project.files();
        expect(await project.init(['--yes'])).toMatchObject({ code: 0 });
        const once = project.files();
        expect(await project.init(['--yes'])).toMatchObject({ code: 0 });
        expect(project.files()).toEqual(once);
        expect(await project.init(['--undo', '--yes'])).toMatchObject({ code: 0 });
        expect(project.files()).toEqual(before);
      }),
      { numRuns: 20 },
    );
  });
});
