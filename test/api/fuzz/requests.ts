/** Draws requests for every route of the table, so that a new route is fuzzed without a change here. */
import fc from 'fast-check';
import { OPERATIONS } from '../../../packages/cairn/src/api/openapi/paths/all.ts';
import { type ApiOperation, partsOf } from '../../../packages/cairn/src/api/openapi/paths/describe.ts';
import { document } from '../openapi/checked.ts';
import { type Hints, jsonText, type Schema } from './json-text.ts';
import type { Ids, Stage } from './stage.ts';

export interface Route {
  readonly method: string;
  /** As in the document: `/v1/runs/{id}`. */
  readonly template: string;
  readonly operation: ApiOperation;
}

export interface Drawn {
  readonly route: Route;
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** True if path and method are certainly those of the route. */
  readonly isRoute: boolean;
  /** Name of a credential of the stage. */
  readonly as: string;
  /** The idempotency key, if it is valid. */
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export const ROUTES: readonly Route[] = Object.entries(OPERATIONS).map(([name, operation]) => {
  const [method, template] = partsOf(name);
  return { method, template, operation };
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Values for members of bodies, by name. */
const HINTS: Hints = {
  type: ['echo', 'nightly', 'release', 'waits', 'gone', ''],
  input: [{ text: 'x' }, { text: 'x', slot: 1 }, {}, [1], null, 'text', { text: 1 }],
  cron: [
    '0 * * * *',
    '* * * * *',
    '*/5 1-3 * * MON',
    '0 0 30 2 *',
    '@daily',
    '0 0 * *',
    '60 * * * *',
    '1 1 L * *',
  ],
  timezone: ['Etc/UTC', 'Europe/Berlin', 'Mars/Phobos', '+01:00', ''],
  name: ['anything', 'built', 'x'.repeat(100), 'x'.repeat(101), ''],
  event: ['built', 'other', 'x'.repeat(100), 'x'.repeat(101), ''],
  key: ['main', 'k', 'x'.repeat(500), 'x'.repeat(501), ''],
  data: [{ build: 7 }, null, 'text', [1, [2]]],
  waitId: ['gate.1', 'gate.2', 'any.1', 'x'.repeat(500)],
  steps: [['review'], ['fetch', 'review'], ['nowhere'], []],
  note: ['because', '', ' ', 'x'.repeat(9_000)],
  feedback: ['better', '', 'x'.repeat(9_000)],
  from: ['2025-12-31T20:00:00Z', '2025-01-01T00:00:00+02:00', '2026-01-01T00:00:00Z', 'yesterday'],
  to: ['2025-12-31T23:00:00Z', '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z', ''],
  reason: ['enough', '', 'x'.repeat(1_001)],
};

const latin1 = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '..',
    '.',
    '%',
    '%zz',
    '%00',
    '%2F',
    '%ed%a0%80',
    'a/b',
    '?',
    '#',
    '\ud800',
    'ü',
    ' ',
    '__x__',
  ),
  fc.constantFrom(
    'x'.repeat(1_600),
    '0',
    '-1',
    '1e9',
    '9999999999',
    '99999999999',
    'NaN',
    "' OR 1=1",
    '{{7*7}}',
  ),
);
const mostly = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, weight = 20) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

/** A path segment, and whether it can only be a valid one. */
type Segment = { readonly text: string; readonly isPlain: boolean };

function segment(parameter: string, template: string, ids: Ids): fc.Arbitrary<Segment> {
  const kind = template.split('/')[2] as keyof Ids;
  const those =
    (parameter === 'effectId' ? ids.effects : KNOWN[parameter]) ?? ids[kind] ?? Object.values(ids).flat();
  const plain = (text: string) => ({
    text: encodeURIComponent(text.toWellFormed()),
    isPlain: !['.', '..', ''].includes(text),
  });
  return fc.oneof(
    // The first caller has the most permissions.
    { weight: 8, arbitrary: fc.constant(those[0] ?? '').map(plain) },
    { weight: 8, arbitrary: fc.constantFrom(...those).map(plain) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.values(ids).flat()).map(plain) },
    { weight: 1, arbitrary: odd.map(plain) },
    { weight: 1, arbitrary: odd.map((text) => ({ text, isPlain: false })) },
  );
}

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  stepId: ['gate', 'push', 'lone', 'files[0]', 'any', 'nowhere', '__proto__'],
  seq: ['4', '1', '2', '3', '5', '9', '0', '01', '9999999999'],
};

const CURSORS = [
  ['runs', 1_767_225_600_000, 'run_a'],
  ['runs', -1, 'x'],
  ['schedules', 1_767_225_600_000, 'sch_0'],
  ['events', 3, ''],
  ['steps', 0, 'fetch'],
  ['steps', 0, '../..'],
  ['checkpoints', 2, ''],
  ['checkpoints', 1e300, '__x__'],
  ['nothing', 1, 'x'],
  { 0: 'runs' },
].map((one) => Buffer.from(JSON.stringify(one)).toString('base64url'));

const VALUES: Readonly<Record<string, readonly string[]>> = {
  limit: ['1', '2', '100', '0', '101', '-1', '1e1', '٣'],
  cursor: CURSORS,
  status: ['completed', 'pending', 'awaiting_approval', 'done', 'toString'],
  type: ['echo', 'gone', '__proto__'],
  after: ['0', '1', '3', '9999999999', '99999999999', '-1', 'x'],
};

function queryText({ query = {} }: ApiOperation): fc.Arbitrary<string> {
  const names = Object.keys(query);
  const known = names.map((name) =>
    mostly(fc.constantFrom(...(VALUES[name] ?? ['acme/shop', 'thread', 'x'])), odd).map((value) => [
      name,
      value,
    ]),
  );
  const odder = fc.tuple(fc.oneof(odd, fc.constantFrom('limit', 'tenantId', '__proto__', 'x')), odd);
  const pair = known.length === 0 ? odder : mostly(fc.oneof(...known), odder);
  const pairs = fc.array(pair, { maxLength: 3 }).map((those) => {
    const text = those.map((one) =>
      one.map((part) => encodeURIComponent(String(part).toWellFormed())).join('='),
    );
    return text.length === 0 ? '' : `?${text.join('&')}`;
  });
  const raw = fc.oneof(
    odd.map((text) => `?${text}`),
    fc.constantFrom(
      `?limit=${'1'.repeat(3_000)}`,
      `?limit=${'1'.repeat(8_000)}`,
      `?${'&'.repeat(500)}`,
      `?${'limit=1&'.repeat(300)}`,
    ),
  );
  const usual = known.length === 0 ? mostly(fc.constant(''), pairs) : pairs;
  return mostly(usual, raw, 30);
}

const KEYS = ['processing', 'failed', 'exhausted', 'expired', 'foreign', 'k1', 'k2'];
const keyHeaders: fc.Arbitrary<Pick<Drawn, 'key' | 'headers'>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ key: undefined, headers: {} }) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.oneof(
          fc.constantFrom(...KEYS),
          fc.nat().map((one) => `n${one}`),
        ),
        fc.constantFrom('x-idempotency-key', 'idempotency-key', 'x-request-id'),
        fc.boolean(),
      )
      .map(([key, name, quoted]) => ({ key, headers: { [name]: quoted ? `"${key}"` : key } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .oneof(latin1, fc.constantFrom('', '"', '""', '"a', 'a b', 'a:b', 'x'.repeat(255), 'x'.repeat(256)))
      .map((value) => ({ key: value, headers: { 'idempotency-key': value } })),
  },
);

const contentType = fc.constantFrom(
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'Application/JSON',
  'text/plain',
  'application/x-www-form-urlencoded',
  '',
);
const moreHeaders = fc.record(
  {
    'content-length': fc.constantFrom('0', '99999999999', '-1', 'NaN', '1e12'),
    'last-event-id': fc.oneof(latin1, fc.constantFrom('0', '2', '-1', '99999999999', '1.5')),
    traceparent: fc.oneof(latin1, fc.constant(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`)),
    'x-forwarded-for': latin1,
    'x-http-method-override': fc.constant('DELETE'),
    'accept-encoding': fc.constant('gzip'),
    cookie: fc.oneof(latin1, fc.constantFrom('x'.repeat(8_000), 'x'.repeat(9_000))),
  },
  { requiredKeys: [] },
);

/** @param stage provides existing ids and callers */
export function requests({ ids, credentials }: Pick<Stage, 'ids' | 'credentials'>): fc.Arbitrary<Drawn> {
  const bodies = jsonText(document.components.schemas as unknown as Record<string, Schema>, HINTS);
  const names = Object.keys(credentials);
  const as = fc.oneof(
    { weight: 4, arbitrary: fc.constant('admin') },
    { weight: 2, arbitrary: fc.constant('operator') },
    { weight: 2, arbitrary: fc.constantFrom(...names) },
  );
  return fc.oneof(...ROUTES.map((route) => drawn(route, { ids, as, bodies })));
}

interface Parts {
  readonly ids: Ids;
  readonly as: fc.Arbitrary<string>;
  readonly bodies: (name: string) => fc.Arbitrary<string>;
}

function drawn(route: Route, { ids, as, bodies }: Parts): fc.Arbitrary<Drawn> {
  const { method, template, operation } = route;
  const parameters = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const path = fc.tuple(...parameters.map((name) => segment(name, template, ids))).map((those) => {
    const left = [...those];
    const text = template.replace(/\{\w+\}/g, () => left.shift()?.text ?? '');
    return { text, isPlain: those.every(({ isPlain }) => isPlain) };
  });
  const usual: fc.Arbitrary<string | Uint8Array | undefined> =
    operation.body === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { weight: 15, arbitrary: bodies(operation.body) },
          { weight: 1, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
        );
  return fc
    .record({
      as,
      path,
      query: queryText(operation),
      method: mostly(fc.constant(method), fc.constantFrom(...METHODS), 30),
      keyed: keyHeaders,
      type: mostly(fc.constant('application/json'), contentType, 25),
      more: mostly(fc.constant({}), moreHeaders as fc.Arbitrary<Record<string, string>>, 10),
      body: usual,
    })
    .map(({ path: { text, isPlain }, query, keyed, type, more, ...rest }) => ({
      ...rest,
      route,
      path: text + query,
      isRoute: isPlain && rest.method === method,
      key: keyed.key,
      headers: { ...(type === '' ? {} : { 'content-type': type }), ...keyed.headers, ...more },
      body: ['GET', 'HEAD'].includes(rest.method) ? undefined : rest.body,
    }));
}
