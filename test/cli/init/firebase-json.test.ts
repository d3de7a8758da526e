import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import {
  type Entries,
  readFirebaseJson,
  withEntries,
  withoutEntries,
} from '../../../packages/cli/src/init/firebase-json.ts';

const entries: Entries = {
  functions: { source: 'cairn', codebase: 'cairn' },
  firestore: { database: 'cairn', rules: 'cairn/firestore.rules' },
};
const added = (text: string) => withEntries(text, entries);

describe('the entries of Cairn', () => {
  test.each([
    ['beside nothing', '{}', [], []],
    [
      'beside an object',
      '{"functions":{"source":"f"},"firestore":{"rules":"r"}}',
      [{ source: 'f' }],
      [{ database: '(default)', rules: 'r' }],
    ],
    [
      'beside an object that names its database',
      '{"firestore":{"database":"d","rules":"r"}}',
      [],
      [{ database: 'd', rules: 'r' }],
    ],
    [
      'beside an object that names a target',
      '{"firestore":{"target":"t","rules":"r"}}',
      [],
      [{ target: 't', rules: 'r' }],
    ],
    [
      'at the end of lists',
      '{"functions":[{"source":"a"},{"source":"b","codebase":"b"}],"firestore":[{"database":"x"}]}',
      [{ source: 'a' }, { source: 'b', codebase: 'b' }],
      [{ database: 'x' }],
    ],
    ['in empty lists', '{"functions":[],"firestore":[]}', [], []],
  ])('stand %s', (_, text, functions, firestore) => {
    const read = readFirebaseJson(added(text));
    expect(read.functions).toEqual([...functions, entries.functions]);
    expect(read.firestore).toEqual([...firestore, entries.firestore]);
  });

  test('keep the layout of lists', () => {
    const lines = [
      '{',
      '  "functions": [',
      '    { "source": "a" },',
      '    { "source": "b", "ignore": ["x"] } // ours',
      '  ],',
    ];
    const text = [...lines, '  "firestore": [{ "database": "x" }]', '}'].join('\n');
    expect(added(text).split('\n')).toEqual([
      ...lines.slice(0, 3),
      '    { "source": "b", "ignore": ["x"] }, // ours',
      '    {',
      '      "source": "cairn",',
      '      "codebase": "cairn"',
      '    }',
      '  ],',
      '  "firestore": [{ "database": "x" }, {',
      '    "database": "cairn",',
      '    "rules": "cairn/firestore.rules"',
      '  }]',
      '}',
    ]);
    expect(withoutEntries(added(text), entries)?.text).toBe(text);
  });

  test('keep a list in one line where it fits, as Prettier does', () => {
    const ignore = ['node_modules', '.git', '*.log', '*.local', 'init-record.json'];
    const text = '{\n  "functions": [\n    { "source": "a" }\n  ]\n}\n';
    const listed = (functions: Entries['functions']) =>
      withEntries(text, { ...entries, functions }).split('\n');
    expect(listed({ ignore })).toContain(
      '      "ignore": ["node_modules", ".git", "*.log", "*.local", "init-record.json"]',
    );
    expect(listed({ ignore, runtime: 'nodejs24' })).toContain('      "ignore": [');
  });

  test('leave valid JSON with comments behind, wherever those were', () => {
    for (const after of ['\n  ]', ']', ', { "source": "c" }]']) {
      const text = `{\n  "functions": [\n    { "source": "b" }, // ours\n    ${JSON.stringify(entries.functions)}${after}\n}`;
      const left = withoutEntries(text, entries)?.text ?? '';
      expect(left).toContain('// ours');
      expect(readFirebaseJson(left).functions).toEqual([
        { source: 'b' },
        ...(after.includes('c') ? [{ source: 'c' }] : []),
      ]);
    }
  });

  test('keep the line of an object that gets a name', () => {
    const text = '{\n  "functions": [],\n  "firestore": { "rules": "r", "indexes": "i" }\n}';
    expect(added(text)).toContain(
      '"firestore": [{ "database": "(default)", "rules": "r", "indexes": "i" }, {',
    );
  });

  test('keep comments, order, indentation and line ends', () => {
    const text = [
      '// the shop',
      '{',
      '\t"hosting": { "public": "public" }, // its site',
      '\t"functions": {',
      '\t\t"source": "functions" /* ours */,',
      '\t},',
      '\t"firestore": {',
      '\t\t"rules": "firestore.rules"',
      '\t}',
      '}',
      '',
    ].join('\r\n');
    const lines = added(text.replace(',\r\n\t},', '\r\n\t},')).split('\r\n');
    expect(lines.join('')).not.toContain('\n');
    expect(lines).toEqual([
      '// the shop',
      '{',
      '\t"hosting": { "public": "public" }, // its site',
      '\t"functions": [{',
      '\t\t"source": "functions" /* ours */',
      '\t}, {',
      '\t\t"source": "cairn",',
      '\t\t"codebase": "cairn"',
      '\t}],',
      '\t"firestore": [{',
      '\t\t"database": "(default)",',
      '\t\t"rules": "firestore.rules"',
      '\t}, {',
      '\t\t"database": "cairn",',
      '\t\t"rules": "cairn/firestore.rules"',
      '\t}]',
      '}',
      '',
    ]);
  });
});

test('are added beside what firebase-tools reads, or a duplicate key is reported', () => {
  const member = (name: string, values: readonly string[]) =>
    fc.constantFrom(...values).map((value) => ({ name, text: `"${name}": ${value}` }));
  const sections = fc.array(
    fc.oneof(
      member('functions', ['{"source": "f"}', '[{"source": "a"}]', '{"source": "f", "source": "g"}', '[]']),
      member('firestore', ['{"rules": "r"}', '[{"database": "x"}]', '[{"database": "x", "database": "y"}]']),
      member('hosting', ['{}', '{"public": "a", "public": "b"}']),
      member('emulators', ['{}', '{"ui": 1, "ui": 2}']),
    ),
    { maxLength: 5 },
  );
  const listed = (value: unknown) => (value === undefined ? [] : [value].flat());
  fc.assert(
    fc.property(sections, (members) => {
      const text = `{${members.map((one) => one.text).join(', ')}}`;
      // The last one counts, as in firebase-tools.
      const before = JSON.parse(text);
      let after: { readonly functions: unknown[]; readonly firestore: unknown[] };
      try {
        readFirebaseJson(text);
        after = JSON.parse(added(text));
      } catch (error) {
        const [, key] = /it has the key '(\w+)' a second time in line 1/.exec(String(error)) ?? [];
        expect(text.split(`"${key}"`).length).toBeGreaterThan(2);
        return;
      }
      expect(after.functions).toEqual([...listed(before.functions), entries.functions]);
      const earlier = after.firestore.slice(0, -1).map((one) => expect.objectContaining(one as object));
      expect(listed(before.firestore).map((one) => ({ database: '(default)', ...one }))).toEqual(earlier);
    }),
  );
});

describe('removing them from a file edited since', () => {
  test('is not tried with a duplicate key, because the first may have the entries and the last one counts', () => {
    const twice = added('{}').replace('{', '{"functions": [],');
    expect(withoutEntries(twice, entries)).toBeUndefined();
  });

  test('keeps everything else', () => {
    const edited = added('{"functions":{"source":"f"},"firestore":{"rules":"r"}}').replace(
      '{',
      '{"hosting":{},',
    );
    const { text, left } = withoutEntries(edited, entries) ?? { text: '', left: [] };
    expect(left).toEqual([]);
    expect(parse(text)).toEqual({
      hosting: {},
      functions: [{ source: 'f' }],
      firestore: [{ database: '(default)', rules: 'r' }],
    });
  });

  test('removes a list that becomes empty', () => {
    expect(parse(withoutEntries(added('{"hosting":{}}'), entries)?.text ?? '')).toEqual({ hosting: {} });
  });

  test('keeps and reports an edited entry', () => {
    const edited = added('{}').replace('"codebase": "cairn"', '"codebase": "cairn", "runtime": "nodejs22"');
    const removed = withoutEntries(edited, entries);
    expect(removed?.left).toEqual(['functions']);
    expect(readFirebaseJson(removed?.text ?? '')).toEqual({
      functions: [{ ...entries.functions, runtime: 'nodejs22' }],
      firestore: [],
    });
  });

  test('is not tried if the file is no longer JSON', () => {
    expect(withoutEntries('{"functions": [', entries)).toBeUndefined();
  });
});

test.each([
  ['', /not JSON.*line 1/],
  ['\uFEFF{\n"functions": {]}', /not JSON.*line 2/],
  ['{\n"functions": {"source": "f",}\n}', /not JSON.*line 2/],
  ['{\n"functions": [],\n"functions": {}\n}', /the key 'functions' a second time in line 3/],
  ['[]', /no JSON object/],
  ['{"functions": "functions"}', /'functions' must be an object or a list of objects/],
  ['{"firestore": [1]}', /'firestore' must be/],
  ['{"firestore": null}', /'firestore' must be/],
])('%j is refused with the place', (text, message) => {
  expect(() => readFirebaseJson(text)).toThrow(message);
});
