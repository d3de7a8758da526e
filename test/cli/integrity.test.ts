import { expect, test } from '@jest/globals';
import type { Answer } from '../../packages/cairn/src/api/openapi/calls.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { consistencyText, repairText } from '../../packages/cli/src/views/integrity.ts';
import { Stage } from './support/stage.ts';

const shape = { style: PLAIN, columns: undefined };
const gap: Answer<'Inconsistency'> = {
  code: 'JOURNAL_GAP',
  severity: 'error',
  healable: false,
  subject: 'events/0000000004',
  title: 'An event is missing from the journal',
  help: 'Restore it.',
  evidence: { after: 3 },
};

test('a problem is shown with its document, facts and advice', () => {
  const checkedAt = '2026-01-01T00:00:00.000Z';
  const text = consistencyText(
    { runId: 'run_a', checkedAt, verdict: 'broken', problems: [gap], more: 4, unread: ['0000000009'] },
    shape,
  );
  expect(text).toBe(
    [
      'broken run_a: the journal itself is damaged, and nothing can be repaired',
      '  JOURNAL_GAP events/0000000004',
      '    An event is missing from the journal: after 3',
      '    Restore it.',
      '  and 4 more',
      '1 large values were not checked: there are too many.',
      '',
    ].join('\n'),
  );
});

test('a repair is shown change by change, with what it does not repair', () => {
  const text = repairText(
    {
      runId: 'run_a',
      outcome: 'planned',
      changes: [
        {
          subject: 'run',
          action: 'replace',
          fixes: ['SNAPSHOT_DIFFERENT'],
          differences: [
            { member: 'status', before: '"failed"', after: '"completed"' },
            { member: 'error', before: '{}' },
          ],
        },
        { subject: 'waits/ci', action: 'list', fixes: ['WAIT_NOT_LISTED'], waitId: 'ci.1' },
      ],
      refused: [gap],
      events: [],
    },
    shape,
  );
  expect(text.split('\n')).toEqual([
    'planned run_a: these changes would be made; --apply makes them',
    '  replace run SNAPSHOT_DIFFERENT',
    '    status: "failed" → "completed"',
    '    error: {} → nothing',
    '  list waits/ci ci.1 WAIT_NOT_LISTED',
    '',
    'Needs a person',
    '',
    '  JOURNAL_GAP events/0000000004',
    '    An event is missing from the journal: after 3',
    '    Restore it.',
    '',
  ]);
});

test('a damaged journal is reported and never repaired, and only admins apply repairs', async () => {
  const stage = new Stage();
  const id = (await stage.cairn(['runs', 'start', 'echo', '--input', '{"text":"hello"}'])).out.trim();
  await stage.drive();
  const documents = stage.installation.world.db.runs.get(id);
  documents?.events.splice(2, 1);
  const check = await stage.cairn(['check', id]);
  expect([check.code, check.out]).toEqual([7, expect.stringMatching(/^broken .*\n {2}JOURNAL_/)]);
  const repair = await stage.cairn(['repair', id, '--apply']);
  expect([repair.code, repair.out]).toEqual([7, expect.stringMatching(/^refused /)]);
  expect((await stage.cairn(['repair', id], { role: 'operator' })).code).toBe(7);
  expect((await stage.cairn(['repair', id, '--apply'], { role: 'operator' })).code).toBe(5);
  expect((await stage.cairn(['check', id], { role: 'viewer' })).code).toBe(5);
});
