import { describe, expect, test } from '@jest/globals';
import type { EventDraft } from '../../packages/cairn/src/core/run/events.ts';
import { assembleBatch, MAX_COMMIT_BYTES } from '../../packages/cairn/src/journal/batch.ts';
import { assertSoundCommit } from '../../packages/cairn/src/ports/commit-rules.ts';
import { beginning, claim, move, succeeded, T0 } from '../conformance/support/run-fixture.ts';

const KIB = 1024;
const { state } = beginning('run_1');
const { after: running } = move(state, claim(state, T0 + 1_000));

function batchOf(drafts: readonly EventDraft[]) {
  let ids = 0;
  return assembleBatch({
    state: running,
    proposals: drafts.map((draft) => () => [draft]),
    now: T0,
    newEventId: () => `e${++ids}`,
  });
}

describe('a commit', () => {
  test('is split by the size of its events, not only by outputs', () => {
    const signals = Array.from(
      { length: 8 },
      (_, i): EventDraft => ({
        type: 'signal_received',
        initiator: 'user',
        data: { signalId: `s${i}`, name: 'n', payloadText: JSON.stringify('x'.repeat(600 * KIB)) },
      }),
    );
    const batch = batchOf(signals);
    expect(batch.events).toHaveLength(Math.floor(MAX_COMMIT_BYTES / (600 * KIB)));
    expect(() => assertSoundCommit({ runId: 'run_1', ...batch })).not.toThrow();
  });

  test('refuses by name an event that exceeds its document, and accepts the others', () => {
    const signal = (payloadText: string): EventDraft => ({
      type: 'signal_received',
      initiator: 'user',
      data: { signalId: 's', name: 'n', payloadText },
    });
    const batch = batchOf([signal('1'), signal('x'.repeat(800 * KIB)), signal('2')]);
    expect(batch.events).toHaveLength(2);
    expect(batch.results).toMatchObject([
      { kind: 'appended' },
      { kind: 'refused', error: { code: 'RUN_TOO_LARGE' } },
      { kind: 'appended' },
    ]);
  });

  test('accepts many outputs that are stored elsewhere', () => {
    const outputRef = { sha256: 'a'.repeat(64), bytes: 32 * KIB * KIB, chunks: 37 };
    const outputs = Array.from({ length: 80 }, (_, i) => {
      const { outputText: _inline, ...draft } = succeeded(`s${i}`);
      return { ...draft, outputRef };
    });
    const batch = batchOf(outputs);
    expect(batch.events).toHaveLength(80);
    expect(batch.checkpoints.every((checkpoint) => checkpoint.outputRef === outputRef)).toBe(true);
    expect(() => assertSoundCommit({ runId: 'run_1', ...batch })).not.toThrow();
  });
});
