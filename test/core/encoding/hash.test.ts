import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  inputsHash,
  requestHash,
  type StepInputs,
} from '../../../packages/cairn/src/core/encoding/fingerprint.ts';
import {
  eventHash,
  genesisHash,
  isSha256Hex,
  sha256Hex,
} from '../../../packages/cairn/src/core/encoding/hash.ts';

describe('SHA-256', () => {
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('of %p is the published value', (text, hex) => {
    expect(sha256Hex(text)).toBe(hex);
    expect(sha256Hex(new TextEncoder().encode(text))).toBe(hex);
  });

  test('hashes text as UTF-8', () => {
    expect(sha256Hex('żółw 🐢')).toBe(sha256Hex(new TextEncoder().encode('żółw 🐢')));
  });

  test('only a full lower-case digest is accepted as one', () => {
    expect(isSha256Hex(sha256Hex('x'))).toBe(true);
    expect(
      [sha256Hex('x').toUpperCase(), sha256Hex('x').slice(1), `"${sha256Hex('x')}"`, ''].some(isSha256Hex),
    ).toBe(false);
  });
});

describe('the hash chain', () => {
  const chain = (runId: string, events: readonly string[]) => {
    const hashes = [genesisHash(runId)];
    for (const event of events) hashes.push(eventHash(hashes.at(-1) ?? '', event));
    return hashes;
  };

  test('starts with the run id and covers the previous event', () => {
    expect(genesisHash('run_a')).toBe(sha256Hex('run_a'));
    expect(eventHash('prev', '{}')).toBe(sha256Hex('prev{}'));
  });

  test('a change of one event changes every later hash and no earlier one', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 8 }), fc.nat(), (events, pick) => {
        const changed = pick % events.length;
        const before = chain('run_a', events);
        const after = chain(
          'run_a',
          events.map((event, index) => (index === changed ? `${event} ` : event)),
        );
        before.forEach((hash, index) => {
          expect(hash === after[index]).toBe(index <= changed);
        });
      }),
    );
  });
});

describe('the fingerprint of a step', () => {
  const base: StepInputs = {
    type: 'review',
    planVersion: 1,
    stepId: 'verdict',
    revision: 1,
    input: '{"a":1}',
    needs: { diff: sha256Hex('diff'), files: sha256Hex('files') },
  };

  test.each<[string, Partial<StepInputs>]>([
    ['type', { type: 'other' }],
    ['plan version', { planVersion: 2 }],
    ['step id', { stepId: 'other' }],
    ['item', { itemKey: 'a.ts' }],
    ['an empty item key', { itemKey: '' }],
    ['revision', { revision: 2 }],
    ['feedback', { feedback: 'shorter' }],
    ['input', { input: '{"a":2}' }],
    ['output of a need', { needs: { ...base.needs, diff: sha256Hex('other') } }],
    ['name of a need', { needs: { patch: sha256Hex('diff'), files: sha256Hex('files') } }],
    ['exchanged needs', { needs: { diff: sha256Hex('files'), files: sha256Hex('diff') } }],
  ])('changes with the %s', (_what, change) => {
    expect(inputsHash({ ...base, ...change })).not.toBe(inputsHash(base));
  });

  test('is the same for the input text and for its hash, and for needs in another order', () => {
    expect(inputsHash({ ...base, input: sha256Hex(base.input) })).toBe(inputsHash(base));
    expect(inputsHash({ ...base, needs: { files: sha256Hex('files'), diff: sha256Hex('diff') } })).toBe(
      inputsHash(base),
    );
    expect(inputsHash({ ...base, itemKey: undefined, feedback: undefined })).toBe(inputsHash(base));
  });

  test('does not change between releases', () => {
    expect(inputsHash(base)).toBe('03f4119d0b23ea9b60972a65d6b9b30f4d4dfaf93f989e5dac14b1de2d2fe1ec');
  });
});

describe('the fingerprint of a request', () => {
  test('depends on route and content, not on the order of members', () => {
    const hash = requestHash('POST /v1/runs', { type: 'a', input: { x: 1 } });
    expect(requestHash('POST /v1/runs', { input: { x: 1 }, type: 'a' })).toBe(hash);
    expect(requestHash('POST /v1/events', { type: 'a', input: { x: 1 } })).not.toBe(hash);
    expect(requestHash('POST /v1/runs', { type: 'a', input: { x: 2 } })).not.toBe(hash);
  });
});
