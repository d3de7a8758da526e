/**
 * Draws JSON text that fits a schema of the API's document, except for some odd parts.
 * Text is needed instead of values, because duplicates, `1e400` and lone surrogates exist only before parsing.
 */
import fc from 'fast-check';

export type Text = fc.Arbitrary<string>;

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Values that exist in this installation, by the name of the member. */
export type Hints = Readonly<Record<string, readonly unknown[]>>;

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Texts that are valid JSON, or nearly. */
export const ODD: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e400',
  '-1e400',
  '9007199254740993',
  '1e21',
  '253402300800000',
  `1${'0'.repeat(400)}`,
  '""',
  '" "',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"__proto__"',
  '"constructor"',
  '"../.."',
  '"%00"',
  '"run_aaaaaaaaaaaaaaaaaaaaaaaaaa"',
  '"2026-13-41T99:99:99Z"',
  '"9999-12-31T23:59:59.999Z"',
  '"0000-01-01T00:00:00Z"',
  '"0001-01-01T00:00:00+23:59"',
  '[]',
  '[null]',
  '{}',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1,"hasOwnProperty":2,"then":3}',
  '{"toJSON":{}}',
  '{"":""}',
  '{"a":1,"a":2}',
  '{"\\ud83d":1}',
  `{"a":${deep(99)}}`,
  deep(100),
  deep(101),
  deep(5_000),
  `"${'x'.repeat(300)}"`,
  `"${'x'.repeat(70_000)}"`,
  `[${'{},'.repeat(300)}{}]`,
  '',
  'undefined',
  'NaN',
  "'x'",
  '"unended',
  '{"a":}',
];
const NAMES = [
  '__proto__',
  'constructor',
  'tenantId',
  'actor',
  'key',
  'id',
  'input',
  'runId',
  '',
  '\u0000',
  'x',
];

const odd: Text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)) },
);
const rarely = (usual: Text): Text =>
  fc.oneof({ weight: 25, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** JSON text that usually fits the schema. @param name of the member, if it is one */
export function jsonText(schemas: Readonly<Record<string, Schema>>, hints: Hints) {
  const of = (schema: Schema, name = ''): Text => rarely(plain(schema, name));

  function plain(schema: Schema, name: string): Text {
    const known = hints[name];
    if (known && schema.enum === undefined)
      return fc.constantFrom(...known.map((one) => JSON.stringify(one)));
    if (schema.$ref !== undefined) return of(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, name);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => of(one, name)));
    if (schema.enum) return fc.constantFrom(...schema.enum.map((one) => JSON.stringify(one)));
    if (schema.const !== undefined) return fc.constant(JSON.stringify(schema.const));
    return TYPES[schema.type ?? '']?.(schema) ?? fc.json({ maxDepth: 3 });
  }

  const TYPES: Readonly<Record<string, (schema: Schema) => Text>> = {
    object: (schema) => objectText(schema),
    array: ({ items = {} }) => fc.array(of(items), { maxLength: 3 }).map((those) => `[${those.join()}]`),
    boolean: () => fc.constantFrom('true', 'false'),
    null: () => fc.constant('null'),
    integer: ({ minimum = 0, maximum = 1_000 }) =>
      fc.integer({ min: minimum, max: Math.min(maximum, 1e9) }).map(String),
    number: () => fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    string: () => fc.string({ minLength: 1, maxLength: 20 }).map((text) => JSON.stringify(text)),
  };

  function objectText({ properties = {}, required = [] }: Schema): Text {
    const members = Object.entries(properties).map(([name, schema]) => {
      const member = of(schema, name).map((text) => `${JSON.stringify(name)}:${text}`);
      const absent = fc.constant(undefined);
      return required.includes(name)
        ? fc.oneof({ weight: 40, arbitrary: member }, { weight: 1, arbitrary: absent })
        : fc.oneof({ weight: 1, arbitrary: member }, { weight: 3, arbitrary: absent });
    });
    const more = fc.oneof(
      { weight: 30, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom(...NAMES, ...Object.keys(properties)), odd)
          .map(([name, text]) => [`${JSON.stringify(name)}:${text}`]),
      },
    );
    return fc
      .tuple(fc.tuple(...members), more)
      .map(([those, added]) => `{${[...those.filter((one) => one !== undefined), ...added].join()}}`);
  }

  return (name: string): Text => {
    const body = of(schemas[name] ?? {});
    return fc.oneof(
      { weight: 20, arbitrary: body },
      { weight: 2, arbitrary: damaged(body) },
      { weight: 1, arbitrary: odd },
    );
  };
}

/** Replaces a piece of the text with something else. */
function damaged(texts: Text): Text {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('"', '{', '}', '[', ',', ':', '\\', '\\u', '\ufeff', '\u0000', '1e999', '\ud800'),
  );
  return fc.tuple(texts, fc.nat(), fc.nat(6), piece).map(([text, at, length, put]) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + put + text.slice(from + length);
  });
}
