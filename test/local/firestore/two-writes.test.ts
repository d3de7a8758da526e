/** Allowed preconditions of two writes of one document in a commit. The outcomes are those of Google's emulator. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from './support/raw-bench.ts';
import { commit, doc, set } from './support/requests.ts';

const bench = setRawBench();
const INVALID_ARGUMENT = 3;
const OTHER = { seconds: 5 };

type Requirement = 'none' | 'exists' | 'missing' | 'current' | 'other';
const requirement = fc.constantFrom<Requirement>('none', 'exists', 'missing', 'current', 'other');
const kind = fc.constantFrom<'set' | 'update' | 'delete'>('set', 'update', 'delete');
const write = fc.record({ kind, requirement });
type Asked = Readonly<{ kind: 'set' | 'update' | 'delete'; requirement: Requirement }>;

/** The expected status code. */
function expectedOf(first: Asked, second: Asked, isStored: boolean): number {
  const isVersion = ({ requirement: asked }: Asked) => asked === 'current' || asked === 'other';
  if (first.kind === 'delete' && second.requirement === 'exists') return INVALID_ARGUMENT;
  if (first.kind === 'delete' && second.kind !== 'delete' && isVersion(second)) return INVALID_ARGUMENT;
  if (first.kind !== 'delete' && second.requirement === 'missing') return INVALID_ARGUMENT;
  if (isVersion(second) && second.requirement !== first.requirement) return INVALID_ARGUMENT;
  const code = { none: 0, exists: isStored ? 0 : 5, missing: isStored ? 6 : 0, current: 0, other: 9 };
  return code[first.requirement];
}

test('the second write may require only a state that is possible after the first, and the version before both', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(write, write, fc.boolean(), async (first, second, isStored) => {
      // A missing document has no version that could be required.
      const isAskable = isStored || ![first, second].some(({ requirement: r }) => r === 'current');
      fc.pre(isAskable);
      const path = `two/${count++}`;
      const stored = isStored ? await bench.raw.call('Commit', commit(set(path))) : undefined;
      const current = (stored?.messages[0] as { commitTime?: object } | undefined)?.commitTime;
      const preconditions = {
        none: {},
        exists: { currentDocument: { exists: true } },
        missing: { currentDocument: { exists: false } },
        current: { currentDocument: { updateTime: current } },
        other: { currentDocument: { updateTime: OTHER } },
      };
      const requestOf = ({ kind: what, requirement: asked }: Asked, value: number) => ({
        ...(what === 'delete' ? { delete: doc(path) } : set(path, { a: { integerValue: value } })),
        ...(what === 'update' && { updateMask: { fieldPaths: ['a'] } }),
        ...preconditions[asked],
      });
      const { code } = await bench.raw.call('Commit', commit(requestOf(first, 1), requestOf(second, 2)));
      expect({ first, second, isStored, code }).toEqual({
        first,
        second,
        isStored,
        code: expectedOf(first, second, isStored),
      });
    }),
    { numRuns: 300 },
  );
});

test.each(['set', 'delete', 'verify'])(
  'the version of a missing document, of which a %s asks, is 0',
  async (what) => {
    const path = `zero/${what}`;
    const request = {
      ...(what === 'set' ? set(path) : { [what]: doc(path) }),
      currentDocument: { updateTime: {} },
    };
    expect((await bench.raw.call('Commit', commit(request))).code).toBe(0);
    await bench.raw.call('Commit', commit(set(path)));
    expect((await bench.raw.call('Commit', commit(request))).code).toBe(9);
  },
);
