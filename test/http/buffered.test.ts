/** Requests and responses with a body in hand read as the platform's own do. */
import { expect, test } from '@jest/globals';
import { BufferedRequest, TextResponse } from '../../packages/cairn/src/http/buffered.ts';

const TEXT = '{"é":"\u{1F600}"}';
const URL = 'http://host.invalid/a?b=1';
const request = () => ({ method: 'POST', headers: { 'content-type': 'application/json', a: 'b' } });
const response = () => ({ status: 201, statusText: 'made', headers: { 'content-type': 'application/json' } });

const PAIRS: readonly (readonly [string, () => Request | Response, () => Request | Response])[] = [
  [
    'a request',
    () => new BufferedRequest(URL, request(), Buffer.from(TEXT)),
    () => new Request(URL, { ...request(), body: TEXT }),
  ],
  ['a response', () => new TextResponse(TEXT, response()), () => new Response(TEXT, response())],
];

const READERS: Readonly<Record<string, (message: Request | Response) => Promise<unknown>>> = {
  text: (message) => message.text(),
  json: (message) => message.json(),
  arrayBuffer: async (message) => Buffer.from(await message.arrayBuffer()).toString(),
  bytes: async (message) => Buffer.from(await message.bytes()).toString(),
  blob: async (message) => (await message.blob()).text(),
  body: async (message) => new Response(message.body).text(),
  clone: (message) => message.clone().text(),
  formData: (message) => message.formData().catch(() => 'refused'),
};

for (const [name, whole, usual] of PAIRS) {
  test.each(Object.entries(READERS))(`${name} is read by %s`, async (reader, read) => {
    const message = whole();
    const other = usual();
    expect(message.bodyUsed).toBe(false);
    expect(await read(message)).toEqual(await read(other));
    expect(message.bodyUsed).toBe(reader !== 'clone');
    expect(other.bodyUsed).toBe(reader !== 'clone');
  });

  test(`${name} is read once`, async () => {
    const message = whole();
    await message.text();
    await expect(message.text()).rejects.toThrow('unusable');
  });
}

test('all but the body is as the platform has it', () => {
  const whole = new BufferedRequest(URL, request(), Buffer.from(TEXT));
  expect(whole).toBeInstanceOf(Request);
  expect([whole.url, whole.method, [...whole.headers]]).toEqual([
    URL,
    'POST',
    [...new Request(URL, request()).headers],
  ]);
  const answer = new TextResponse(TEXT, response());
  expect(answer).toBeInstanceOf(Response);
  const { status, statusText, ok } = new Response(TEXT, response());
  expect({ status: answer.status, statusText: answer.statusText, ok: answer.ok }).toEqual({
    status,
    statusText,
    ok,
  });
  answer.headers.set('cache-control', 'no-store');
  expect(answer.clone().headers.get('cache-control')).toBe('no-store');
});
