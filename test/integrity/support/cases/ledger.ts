/** Damage of the side-effect ledger. */
import { effectIdOf } from '../../../../packages/cairn/src/core/effects/effect.ts';
import { sha256Hex } from '../../../../packages/cairn/src/core/encoding/hash.ts';
import { abandoned, acted, doubtful } from '../runs.ts';
import { type Case, changeEffect } from './case.ts';

export const LEDGER: readonly Case[] = [
  {
    code: 'EFFECT_MISSING',
    how: 'the row of an action that took place is deleted',
    run: acted,
    damage: ({ world }) => world.db.effects.clear(),
    repair: 'refused',
  },
  {
    code: 'EFFECT_UNREADABLE',
    how: 'the row is none',
    run: acted,
    damage: ({ world }) => {
      const [id = ''] = world.db.effects.keys();
      world.db.effects.set(id, { record: 'damaged' as never, version: 'v' });
    },
    repair: 'refused',
  },
  {
    code: 'EFFECT_DIFFERENT',
    how: 'an action that took place is said to have failed',
    run: acted,
    damage: (bench) => changeEffect(bench, { status: 'failed' }),
    repair: 'refused',
  },
  {
    code: 'EFFECT_DIFFERENT',
    how: 'another answer is recorded',
    run: acted,
    damage: (bench) => changeEffect(bench, { resultText: '{"id":2}' }),
    repair: 'refused',
  },
  {
    code: 'EFFECT_DIFFERENT',
    how: 'another answer is recorded, with its hash',
    run: acted,
    damage: (bench) => changeEffect(bench, { resultText: '2', responseHash: sha256Hex('2') }),
    repair: 'refused',
  },
  {
    code: 'EFFECT_DIFFERENT',
    how: 'another request is said to have been made',
    run: acted,
    damage: (bench) => changeEffect(bench, { requestHash: '0'.repeat(64) }),
    repair: 'refused',
  },
  {
    code: 'EFFECT_DIFFERENT',
    how: 'it is of another tenant, lineage, step and key',
    run: doubtful,
    damage: (bench) =>
      changeEffect(bench, { tenantId: 't2', rootRunId: 'r', stepId: 's', idempotencyKey: '0'.repeat(64) }),
    repair: 'refused',
  },
  {
    code: 'EFFECT_WITHOUT_EVENT',
    how: 'there is a row that nobody made',
    run: acted,
    damage: ({ world }) => {
      for (const { record, version } of [...world.db.effects.values()]) {
        const effectId = effectIdOf(record.idempotencyKey, 2);
        world.db.effects.set(effectId, { record: { ...record, effectId, n: 2 }, version });
      }
    },
    repair: 'refused',
  },
  {
    code: 'EFFECT_IN_DOUBT_AT_END',
    how: 'the run was cancelled before anybody found out',
    run: abandoned,
    damage: () => {},
    repair: 'refused',
  },
];
