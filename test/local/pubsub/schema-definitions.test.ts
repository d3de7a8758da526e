import { describe, expect, test } from '@jest/globals';
import avsc from 'avsc';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { parseDefinition } from '../../../packages/local-pubsub/src/schema/definition.ts';
import { jsonOf } from '../../../packages/local-pubsub/src/schema/json.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

const avro = (...fields: object[]) =>
  parseDefinition('AVRO', JSON.stringify({ type: 'record', name: 'City', fields }));
const NAME = { name: 'name', type: 'string' };
const COUNT = { name: 'count', type: 'long' };
const NOTE = { name: 'note', type: ['null', 'string'], default: null };

const PROTO = `syntax = "proto3"; package places;
  message City {
    enum Kind { TOWN = 0; CAPITAL = 1; }
    message Mayor { string name = 1; bool elected = 2; }
    string name = 1; string post_abbr = 2; repeated int32 codes = 3; map<string, int64> counts = 4;
    Kind kind = 5; Mayor mayor = 6; oneof found { string by = 7; uint64 at = 8; } bytes seal = 9; double area = 10;
    repeated Mayor former = 11; int32 odd__name_1x = 12; int32 renamed = 13 [json_name = "other"];
  }`;
const WIDE = {
  type: 'record' as const,
  name: 'City',
  fields: [
    NAME,
    { name: 'flag', type: 'boolean' },
    { name: 'small', type: 'int' },
    { name: 'ratio', type: 'double' },
    { name: 'raw', type: 'bytes' },
    { name: 'code', type: { type: 'fixed' as const, name: 'Code', size: 3 } },
    { name: 'kind', type: { type: 'enum' as const, name: 'Kind', symbols: ['TOWN', 'CAPITAL'] } },
    { name: 'marks', type: { type: 'array' as const, items: 'int' } },
    { name: 'counts', type: { type: 'map' as const, values: 'int' } },
    { name: 'note', type: ['null', 'string'] },
  ],
};
/** Messages of the type above. */
const CITY = fc.record({
  name: fc.string({ unit: 'binary', maxLength: 20 }),
  flag: fc.boolean(),
  small: fc.integer(),
  ratio: fc.double(),
  raw: fc.uint8Array({ maxLength: 9 }).map((data) => Buffer.from(data)),
  code: fc.uint8Array({ minLength: 3, maxLength: 3 }).map((data) => Buffer.from(data)),
  kind: fc.constantFrom('TOWN', 'CAPITAL'),
  marks: fc.array(fc.integer(), { maxLength: 5 }),
  counts: fc.dictionary(fc.string({ maxLength: 5 }), fc.integer(), { noNullPrototype: true }),
  note: fc.option(fc.string({ maxLength: 5 }), { nil: null }),
});
const EMPTY = { type: 'record', name: 'ns.E', fields: [] };
const KIND = { type: 'enum', name: 'Kind', symbols: ['TOWN', 'CAPITAL'] };
const proto = parseDefinition('PROTOCOL_BUFFER', PROTO);
const City = protobuf.parse(PROTO, { keepCase: true }).root.lookupType('places.City');

test('a message in JSON is read as its text says, however it is spaced', () => {
  const inNumbers = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? Number(member) : member)),
    );
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom('', ' ', '\t\n'), (value, space) => {
      const json = JSON.stringify(value, null, space);
      for (const repeated of ['first', 'refused'] as const) {
        expect(inNumbers(jsonOf(Buffer.from(json), repeated))).toEqual(JSON.parse(json));
      }
    }),
  );
});

test.each(['a', '\n', '\\"', '5'])('a message in JSON may have a text of nine megabytes of %j', (part) => {
  const value = [part.repeat(9_000_000 / (JSON.stringify(part).length - '""'.length))];
  expect(jsonOf(bytes(value), 'first')).toEqual(value);
});

describe('Avro', () => {
  test.each<[unknown, RegExp | undefined]>([
    [{ name: 'a', count: 1, note: null }, undefined],
    [{ name: 'a', count: -1, note: { string: 'b' } }, undefined],
    ['{"name":"a","count":9007199254740993,"note":null}', undefined],
    ['{"name":"a","count":9223372036854775807,"note":null}', undefined],
    ['{"name":"a","count":1.0,"note":null,"more":true}', undefined],
    [{ name: 'a', count: 1 }, /no field 'note'/],
    ['\ufeff{"name":"a","count":1,"note":null}', /JSON/],
    [{ name: 'a', count: 1, note: 'untagged' }, /"null","string"/],
    [{ name: 'a', count: 1.5, note: null }, /long/],
    ['{"name":"a","count":9223372036854775808,"note":null}', /long/],
    [{ name: 1, count: 1, note: null }, /string/],
    [{ foo: 'bar' }, /no field 'name'/],
    ['no JSON', /JSON/],
    ['{"name":"a","count":1,"count":"b","note":null}', undefined],
    ['{"name":"a","count":"b","count":1,"note":null}', /long/],
  ])('accepts %j as JSON, or refuses it with the reason: %s', (message, reason) => {
    const check = () => avro(NAME, COUNT, NOTE).check(bytes(message), 'JSON');
    if (reason) expect(check).toThrow(reason);
    else expect(check).not.toThrow();
  });

  test.each<[string, object | string, unknown, RegExp | undefined]>([
    ['a long that is declared as an object', { type: 'long' }, '9007199254740993', undefined],
    ['a large integer for a double', 'double', '12345678901234567890123', undefined],
    ['the branch of a record by its full name', ['null', EMPTY], { 'ns.E': {} }, undefined],
    ['the branch of a record by its short name', ['null', EMPTY], { E: {} }, /not one branch/],
    ['two branches', ['int', 'long'], { int: 1, long: 1 }, /not one branch/],
    ['a branch null', ['null', 'int'], { null: null }, /not one branch/],
    ['a list for a record without fields', EMPTY, [], /not an object/],
    [
      'a text for a record without fields',
      { type: 'map', values: EMPTY },
      { k: 'a' },
      /'k' is not an object/,
    ],
    ['a symbol that every object has', KIND, '"toString"', /not a symbol/],
    ['a symbol there is not, with a default', { ...KIND, default: 'TOWN' }, '"VILLAGE"', /not a symbol/],
    ['a fixed that is too long', { type: 'fixed', name: 'F', size: 2 }, '"abc"', /2 bytes/],
    ['a text for a number', 'double', '"NaN"', /double/],
    ['a fraction in a map', { type: 'map', values: 'int' }, { k: 1.5 }, /'k' is not of type int/],
    ['an object for a list', { type: 'array', items: 'int' }, {}, /not a list/],
    ['a number for a boolean', 'boolean', 1, /boolean/],
    ['a number for bytes', 'bytes', 1, /bytes/],
    ['a value for null', 'null', 0, /not null/],
  ])('in JSON, %s', (_what, definition, message, reason) => {
    const check = () => parseDefinition('AVRO', JSON.stringify(definition)).check(bytes(message), 'JSON');
    if (reason) expect(check).toThrow(reason);
    else expect(check).not.toThrow();
  });

  test('accepts every JSON message that an encoder writes, and none without one of its fields', () => {
    const type = avsc.Type.forSchema(WIDE);
    const definition = parseDefinition('AVRO', JSON.stringify(WIDE));
    fc.assert(
      fc.property(CITY, fc.constantFrom(...WIDE.fields), (city, { name }) => {
        // JSON has no infinite numbers.
        const message = JSON.parse(type.toString({ ...city, ratio: 0.5 }));
        definition.check(bytes(message), 'JSON');
        delete message[name];
        expect(() => definition.check(bytes(message), 'JSON')).toThrow(`no field '${name}'`);
      }),
    );
  });

  test('accepts binary messages of exactly the right length, with all 64 bits of a long', () => {
    const definition = avro(NAME, COUNT);
    const long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    const message = Buffer.from([2, 0x61, ...long]);
    expect(() => definition.check(message, 'BINARY')).not.toThrow();
    for (const wrong of [message.subarray(0, 5), Buffer.concat([message, Buffer.from([0])])]) {
      expect(() => definition.check(wrong, 'BINARY')).toThrow(/truncated|more data/);
    }
  });

  test('accepts every binary message that an encoder writes, and none that is truncated or has trailing bytes', () => {
    const type = avsc.Type.forSchema(WIDE);
    const definition = parseDefinition('AVRO', JSON.stringify(WIDE));
    fc.assert(
      fc.property(CITY, fc.nat(), (city, at) => {
        const message = type.toBuffer(city);
        definition.check(message, 'BINARY');
        const cut = message.subarray(0, at % message.length);
        expect(() => definition.check(cut, 'BINARY')).toThrow(/truncated/);
        const more = Buffer.concat([message, Buffer.from([0])]);
        expect(() => definition.check(more, 'BINARY')).toThrow(/more data/);
      }),
    );
  });

  test.each<[string, object | string, number[], RegExp | undefined]>([
    ['millions of nothing', { type: 'array', items: 'null' }, [0xfe, 0xff, 0xff, 0xff, 0x0f, 0], undefined],
    [
      'millions that do not come',
      { type: 'array', items: 'long' },
      [0xfe, 0xff, 0xff, 0xff, 0x0f, 0],
      /truncated/,
    ],
    ['a block with its size', { type: 'array', items: 'boolean' }, [3, 4, 1, 0, 0], undefined],
    ['a text of negative length', 'string', [1], /truncated/],
    ['a text that is no UTF-8', 'string', [2, 0xff], /utf-8/i],
    ['a boolean of 2', 'boolean', [2], /boolean/],
    ['an int of 33 bits', 'int', [0x80, 0x80, 0x80, 0x80, 0x20], /greater/],
    ['an integer without end', 'long', Array.from({ length: 11 }, () => 0x80), /64 bits/],
    ['a choice there is not', ['null', 'string'], [4], /union index/],
    ['a symbol there is not', { type: 'enum', name: 'E', symbols: ['A'] }, [1], /union index/],
    ['a record in itself', { type: 'record', name: 'R', fields: [{ name: 'r', type: 'R' }] }, [], /deep/],
  ])('in binary, %s', (_what, definition, message, reason) => {
    const check = () =>
      parseDefinition('AVRO', JSON.stringify(definition)).check(Buffer.from(message), 'BINARY');
    if (reason) expect(check).toThrow(reason);
    else expect(check).not.toThrow();
  });

  test('accepts only revisions that are compatible in both directions', () => {
    expect(() => avro(NAME, NOTE).requireFollows(avro(NAME))).not.toThrow();
    expect(() => avro(NAME).requireFollows(avro(NAME, NOTE))).not.toThrow();
    expect(() => avro(NAME, COUNT).requireFollows(avro(NAME))).toThrow();
    expect(() => avro({ ...COUNT, name: 'name' }).requireFollows(avro(NAME))).toThrow();
    expect(() => proto.requireFollows(avro(NAME))).toThrow(/type/);
  });
});

describe('Protocol Buffers', () => {
  test.each([
    ['', ''],
    ['with a comment of the word', '/* null */ '],
    ['after a member of the name', 'message M { message null {} optional null nil = 1; '],
  ])('a truncated definition %s is refused with that reason', (_what, before) => {
    for (let end = 0; end < PROTO.length; end++) {
      let reason = '';
      try {
        parseDefinition('PROTOCOL_BUFFER', before + PROTO.slice(0, end));
      } catch (error) {
        reason = (error as Error).message;
      }
      expect([end, reason]).toEqual([end, expect.not.stringMatching(/^$|null|undefined|not a function/)]);
    }
  });

  test.each<[unknown, RegExp | undefined]>([
    [{ name: 'Q', post_abbr: 'QC' }, undefined],
    [{ name: 'Q', postAbbr: 'QC', codes: [1, '2'], counts: { a: '5' }, kind: 'CAPITAL' }, undefined],
    [{ mayor: { name: 'A', elected: true }, former: [{ name: 'B' }], at: '18446744073709551615' }, undefined],
    [{ name: null, kind: 7, seal: 'aGk=', area: 'NaN' }, undefined],
    [{ oddName1x: 1, other: 1 }, undefined],
    [{ odd__name_1x: 1, renamed: 1 }, undefined],
    ['{"at":18446744073709551615,"area":12345678901234567890}', undefined],
    [{ at: '1.0', codes: ['1e2', 1.0] }, undefined],
    ['{"at":18446744073709551616}', /not of type uint64/],
    [{ at: '1.5' }, /not of type uint64/],
    ['{"area":1e400}', /not of type double/],
    ['{"name":"\\ud800"}', /not of type string/],
    [{ kind: 2 ** 31 }, /Kind/],
    [{ odd_Name_1x: 1 }, /'odd_Name_1x'/],
    ['\ufeff{}', /JSON/],
    [{ foo: 'bar' }, /'foo'/],
    [{ post_abbr: 'a', postAbbr: 'b' }, /twice/],
    ['{"name":"a","name":"b"}', /twice/],
    ['{"name":null,"n\\u0061me":null}', /twice/],
    ['{"counts":{"a":1,"a":1}}', /twice/],
    ['{"mayor":{"elected":true,"elected":true}}', /twice/],
    [{ by: 'a', at: 1 }, /several/],
    [{ name: 1 }, /not of type string/],
    [{ codes: 1 }, /list/],
    [{ codes: [2 ** 31] }, /not of type int32/],
    [{ at: -1 }, /not of type uint64/],
    [{ kind: 'VILLAGE' }, /Kind/],
    [{ kind: 'toString' }, /Kind/],
    [{ mayor: { elected: 'yes' } }, /not of type bool/],
    [{ mayor: [] }, /object/],
    [{ area: 'big' }, /not of type double/],
    [{ seal: '!' }, /not of type bytes/],
    [[], /object/],
    ['no JSON', /JSON/],
  ])('accepts %j as JSON, or refuses it with the reason: %s', (message, reason) => {
    const check = () => proto.check(bytes(message), 'JSON');
    if (reason) expect(check).toThrow(reason);
    else expect(check).not.toThrow();
  });

  test('accepts every message that an encoder writes, and none that is truncated', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const mayor = fc.record({ name: text, elected: fc.boolean() });
    const city = fc.record(
      {
        name: text,
        codes: fc.array(fc.integer()),
        counts: fc.dictionary(fc.string({ maxLength: 5 }), fc.integer(), { noNullPrototype: true }),
        kind: fc.constantFrom(0, 1),
        mayor,
        former: fc.array(mayor, { maxLength: 3 }),
        area: fc.double(),
      },
      { requiredKeys: ['mayor'] },
    );
    fc.assert(
      fc.property(city, fc.nat(), (value, at) => {
        const message = City.encode(value).finish();
        proto.check(message, 'BINARY');
        // The last field of a message that is cut within it; a cut between fields leaves a message.
        const mayorOnly = City.encode({ mayor: { name: 'x'.repeat(1 + (at % 9)) } }).finish();
        expect(() =>
          proto.check(mayorOnly.subarray(0, 1 + (at % (mayorOnly.length - 1))), 'BINARY'),
        ).toThrow();
      }),
    );
  });

  test.each<[string, number[], RegExp]>([
    ['a number for a text', [0x08, 1], /wire type 0 instead of 2/],
    ['a text that is no UTF-8', [0x0a, 1, 0xff], /utf-8/i],
    ['a message whose field is of another type', [0x32, 2, 0x10 | 2, 0], /wire type 2 instead of 0/],
    ['JSON', [...bytes({ name: 'Q' })], /./],
  ])('refuses %s', (_what, message, reason) => {
    expect(() => proto.check(Buffer.from(message), 'BINARY')).toThrow(reason);
  });

  test('accepts a revision that adds or removes optional fields, and none that changes a field', () => {
    const city = (fields: string) =>
      parseDefinition('PROTOCOL_BUFFER', `syntax = "proto3"; message City { ${fields} }`);
    const before = city('string name = 1; repeated int32 codes = 2;');
    expect(() => city('repeated int32 codes = 2; bool big = 3;').requireFollows(before)).not.toThrow();
    expect(() => city('string name = 1;').requireFollows(before)).toThrow(/codes is not optional/);
    expect(() => city('bytes name = 1; repeated int32 codes = 2;').requireFollows(before)).toThrow(/name/);
    expect(() => proto.requireFollows(before)).toThrow(/different name/);
  });
});

test.each<['AVRO' | 'PROTOCOL_BUFFER', string]>([
  ['AVRO', 'no JSON'],
  ['AVRO', '{"not_actually":"avro"}'],
  ['AVRO', '{"type":"record","fields":[]}'],
  ['AVRO', '{"type":"enum","symbols":["A"]}'],
  ['AVRO', '{"type":"record","name":"C","fields":[{"name":"a","type":"int","aliases":"b"}]}'],
  ['AVRO', `${'{"type":"array","items":'.repeat(10_000)}"string"${'}'.repeat(10_000)}`],
  ['PROTOCOL_BUFFER', ''],
  ['PROTOCOL_BUFFER', 'woohoo'],
  ['PROTOCOL_BUFFER', 'message A {} message B {}'],
  ['PROTOCOL_BUFFER', 'import "other.proto"; message A {}'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { B b = 1; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { enum K { X = 1; } }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { message B { enum K { } } }'],
  ['PROTOCOL_BUFFER', 'message A { enum K { X = 2147483648; } }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { int32 a = 1 [default = 5]; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { int32 a = 0; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { int32 a = 19500; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { int32 a = 536870912; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { reserved 1 to 3; int32 a = 3; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { oneof o { } }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { } enum K { X = 1; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { enum K { X = 0; } enum L { X = 0; } }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { enum K { a = 0; } int32 a = 1; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { int32 f_a = 1; int32 fA = 2; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { int32 a = 1; int32 b = 2 [json_name = "a"]; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { group G = 1 { } }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto3"; message A { extensions 5; }'],
  ['PROTOCOL_BUFFER', 'syntax = "proto2"; message A { extensions 5; } extend A { optional int32 x = 6; }'],
  ['PROTOCOL_BUFFER', 'message A {'.repeat(20_000)],
  [
    'PROTOCOL_BUFFER',
    `message A { ${Array.from({ length: 2001 }, (_, n) => `optional int32 a${n} = ${n + 1};`).join(' ')} }`,
  ],
])('%s %.30s is no definition', (type, text) => {
  expect(() => parseDefinition(type, text)).toThrow(Error);
});

/** Places of options, each with an option of it. */
const OPTIONS: readonly (readonly [(option: string) => string, string])[] = [
  [(option) => `option ${option}; message A { }`, 'java_package = "x"'],
  [(option) => `package p; option ${option}; message A { }`, 'optimize_for = SPEED'],
  [(option) => `message A { option ${option}; }`, 'deprecated = true'],
  [(option) => `message A { int32 a = 1 [${option}]; }`, 'deprecated = false'],
  [(option) => `message A { repeated int32 a = 1 [${option}]; }`, 'packed = true'],
  [(option) => `message A { int64 a = 1 [${option}]; }`, 'jstype = JS_STRING'],
  [(option) => `message A { enum K { option ${option}; X = 0; } }`, 'deprecated = true'],
  [(option) => `message A { enum K { X = 0 [${option}]; } }`, 'deprecated = true'],
  [(option) => `message A { } service S { option ${option}; }`, 'deprecated = true'],
];
const WRONG_OPTIONS = ['nonsense = 1', '(custom) = 1', '(custom).field = true', 'constructor = true'];

describe.each(OPTIONS)('options in the place of that in %s', (withOption, known) => {
  const parse = (option: string) =>
    parseDefinition('PROTOCOL_BUFFER', `syntax = "proto3"; ${withOption(option)}`);

  test('may be those that protobuf declares', () => {
    expect(() => parse(known)).not.toThrow();
  });

  test.each([...WRONG_OPTIONS, known.replace(/=.*/, '= 5')])('may not be %s', (option) => {
    expect(() => parse(option)).toThrow(/option/);
  });
});

test.each(['int32 a', 'string a', 'repeated string a', 'repeated A a'])('%s cannot be packed', (field) => {
  const definition = `syntax = "proto3"; message A { ${field} = 1 [packed = true]; }`;
  expect(() => parseDefinition('PROTOCOL_BUFFER', definition)).toThrow(/packed/);
});

test.each([
  'message A { enum K { X = 1; } optional int32 a = 1 [default = 5]; }',
  'syntax = "proto3"; message A { reserved 1 to 3; int32 a = 4; int32 b = 18999; int32 c = 536870911; }',
  'syntax = "proto2"; message A { extensions 5; } extend A { optional int32 x = 5; }',
  'syntax = "proto2"; message A { optional int32 f_a = 1; optional int32 fA = 2; }',
  'syntax = "proto3"; message A { enum K { option allow_alias = true; X = 0; Y = 0; } optional int32 a = 1; message A { } }',
])('PROTOCOL_BUFFER %s is a definition', (text) => {
  expect(() => parseDefinition('PROTOCOL_BUFFER', text)).not.toThrow();
});
