import { beforeAll, describe, expect, test } from '@jest/globals';
import { changed } from '../../support/image.ts';
import { Stage } from '../fuzz/stage.ts';
import { document } from '../openapi/checked.ts';
import { type Case, COMMON, send } from './cases.ts';
import { CHANGED_PLANS } from './changed-plans.ts';
import { HELD } from './held-cases.ts';
import { MEMO } from './memo-cases.ts';
import { OWN } from './own-cases.ts';

interface Given {
  readonly status: number;
  readonly code: string | undefined;
  readonly media: string | null;
  readonly text: string;
  /** Written documents. */
  readonly written: readonly string[];
}

const CASES: readonly Case[] = [...COMMON, ...OWN, ...HELD, ...MEMO, ...CHANGED_PLANS];
const given = new Map<Case, Given>();

async function ask(stage: Stage, { route, ask: asking, around }: Case): Promise<Given> {
  const before = stage.image();
  const answer = await send(stage, route, asking(stage), around);
  const media = answer.headers.get('content-type');
  const isStream = media?.startsWith('text/event-stream') === true;
  if (isStream) await answer.body?.cancel();
  const text = isStream ? '' : await answer.text();
  const { code } =
    media === 'application/problem+json' ? (JSON.parse(text) as { code: string }) : { code: undefined };
  return { status: answer.status, code, media, text, written: changed(before, stage.image()) };
}

/** Requests without effects share one installation; each of the others gets its own. */
beforeAll(async () => {
  const shared = await Stage.make();
  for (const one of CASES) {
    const isAlone = one.status < 400 || one.before !== undefined;
    const stage = isAlone ? await Stage.make() : shared;
    await one.before?.(stage);
    given.set(one, await ask(stage, one));
  }
});

describe.each([
  ['every route', COMMON],
  ['single routes', OWN],
  ['routes that hold a run up', HELD],
  ['memos', MEMO],
  ['routes that need the definition of a run', CHANGED_PLANS],
] as const)('of %s', (_, cases) => {
  test.each(cases.map((one) => [`${one.route}: ${one.because}`, one] as const))('%s', (_name, one) => {
    const { status, code, media, text, written } = given.get(one) as Given;
    expect([status, code ?? one.code]).toEqual([one.status, one.code]);
    expect([text, code]).toEqual([text, one.code]);
    if (one.code === undefined) return;
    expect(media).toBe('application/problem+json');
    expect(written).toEqual([]);
    expect(text).not.toContain('a secret detail');
  });
});

/** `METHOD /path status` and `METHOD /path status CODE` of every documented answer. */
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { responses }]) =>
    Object.entries(responses as Record<string, { description: string; content: object }>).flatMap(
      ([status, { description, content }]) => {
        const one = `${method.toUpperCase()} ${path} ${status}`;
        const isProblem = 'application/problem+json' in content;
        return isProblem ? description.split('; ').map((part) => `${one} ${part.split(':')[0]}`) : [one];
      },
    ),
  ),
);

test('the requests above have exactly the answers that the document describes', () => {
  const seen = [...given].map(([{ route }, { status, code }]) => [route, status, code].join(' ').trim());
  expect([...new Set(seen)].sort()).toEqual([...new Set(documented)].sort());
});
