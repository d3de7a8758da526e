import { describe, expect, test } from '@jest/globals';
import { type Execution, explore } from '../../support/explorer.ts';

/** Threads that each take a number of steps; `step` changes their shared memory. */
function program(
  lengths: readonly number[],
  step: (memory: number[], thread: number, index: number) => void,
  check: (memory: readonly number[]) => void = () => {},
): () => Promise<Execution> {
  return async () => {
    const memory: number[] = [];
    const at = lengths.map(() => 0);
    return {
      choices: () =>
        lengths.flatMap((length, thread) => {
          const index = at[thread] ?? 0;
          if (index >= length) return [];
          const take = () => {
            at[thread] = index + 1;
            step(memory, thread, index);
          };
          return [{ label: `${thread}.${index}`, take }];
        }),
      key: () => JSON.stringify([memory, at]),
      check: () => {},
      finish: async () => check(memory),
    };
  };
}

describe('the explorer', () => {
  test('counts each order once: three threads of three steps have 9! / (3!)³', async () => {
    const seen = new Set<string>();
    const all = await explore(
      program(
        [3, 3, 3],
        (memory, thread) => memory.push(thread),
        (memory) => void seen.add(memory.join('')),
      ),
    );
    expect(all.schedules).toBe(1_680n);
    expect(seen.size).toBe(1_680);
  });

  test('explores equal states once, and still counts their schedules', async () => {
    const all = await explore(program([3, 3, 3], () => {}));
    expect(all).toMatchObject({ schedules: 1_680n, states: 64 });
    expect(all.executions).toBeLessThan(200);
  });

  test('finds the one order in which a read and a write lose an update, and prints it', async () => {
    const read: number[] = [];
    const lossy = program(
      [2, 2],
      (memory, thread, index) => {
        if (index === 0) read[thread] = memory[0] ?? 0;
        else memory[0] = (read[thread] ?? 0) + 1;
      },
      (memory) => {
        if (memory[0] !== 2) throw new Error('an update is lost');
      },
    );
    // The key must hold what the threads have read, or the order would be hidden.
    const withReads = async () => {
      const execution = await lossy();
      return { ...execution, key: () => JSON.stringify([execution.key(), read]) };
    };
    await expect(explore(withReads)).rejects.toThrow(/^after \[0\.0 · 1\.0 · .*\]: an update is lost$/);
  });

  test('refuses a program that never ends, and one that is not deterministic', async () => {
    await expect(explore(program([1_000], (memory) => memory.push(1)))).rejects.toThrow('does not end');
    let runs = 0;
    const fickle = async () => {
      runs += 1;
      return program(runs === 1 ? [1, 1] : [0, 0], (memory, thread) => memory.push(thread))();
    };
    await expect(explore(fickle)).rejects.toThrow('did not do the same again');
  });
});
