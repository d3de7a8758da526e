/** Sends requests to an installation, and checks every answer against the document. */
import { expect } from '@jest/globals';
import { z } from 'zod';
import { openApi } from '../../../packages/cairn/src/api/openapi/document.ts';
import { NAMED, type SchemaName } from '../../../packages/cairn/src/api/openapi/schemas/named.ts';
import type { Installation } from '../installation.ts';

interface Described {
  readonly content: Readonly<Record<string, { readonly schema?: { readonly $ref: string } }>>;
}

export interface Asked {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const document = openApi('1.2.3');
/** The document's own schemas as validators, which is all that a client has. */
const $defs = JSON.parse(
  JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/'),
);
const validators = new Map<string, z.ZodType>();
export function validatorOf(name: string): z.ZodType {
  const known = validators.get(name) ?? z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs });
  validators.set(name, known);
  return known;
}

export class Checked {
  /** `METHOD /path status` of every answer so far. */
  readonly seen = new Set<string>();
  readonly #installation: Installation;
  readonly #key: string;

  /** @param key for requests that name none */
  constructor(installation: Installation, key: string) {
    this.#installation = installation;
    this.#key = key;
  }

  /** The body of the answer, after it was checked against the document for `route`, e.g. `GET /v1/runs/{id}`. */
  async ask(route: string, asked: Asked = {}): Promise<Record<string, unknown>> {
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(asked.path?.[name] ?? ''));
    const { key = this.#key, body, query = '', headers = {} } = asked;
    const answer = await this.#installation.api.request(path + query, {
      method,
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = template.endsWith('/stream') && answer.ok ? await cancelled(answer) : await answer.text();
    this.#assertDescribed(`${route} ${answer.status}`, { answer, text });
    return text.startsWith('{') ? JSON.parse(text) : {};
  }

  #assertDescribed(what: string, { answer, text }: { answer: Response; text: string }): void {
    const [method = '', template = '', status = ''] = what.split(' ');
    const operation = document.paths[template]?.[method.toLowerCase()];
    const described = (operation?.responses as Record<string, Described> | undefined)?.[status];
    expect([what, text, described]).toEqual([what, text, expect.anything()]);
    const media = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    expect([what, Object.keys(described?.content ?? {})]).toEqual([what, [media]]);
    const name = described?.content[media]?.schema?.$ref.split('/').at(-1);
    if (name !== undefined) assertFits(what, { name: name as SchemaName, value: JSON.parse(text) });
    this.seen.add(what);
  }
}

/** An object schema drops unknown members, so an unchanged result has only documented members. */
function assertFits(what: string, { name, value }: { name: SchemaName; value: unknown }): void {
  const parsed = NAMED[name].safeParse(value);
  expect([what, parsed.error?.issues]).toEqual([what, undefined]);
  expect(parsed.data).toEqual(value);
  expect([what, validatorOf(name).safeParse(value).error?.issues]).toEqual([what, undefined]);
}

/** A stream does not end, so only its headers are checked. */
async function cancelled(answer: Response): Promise<string> {
  await answer.body?.cancel();
  return '';
}
