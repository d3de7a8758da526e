import { describe, expect, test } from '@jest/globals';
import {
  MAX_BODY_CHARS,
  PullRequestEvent,
} from '../../../functions/src/workflows/review-pull-request/event.ts';
import { toJsonText } from '../../../packages/cairn/src/core/encoding/json.ts';
import { eventWith, REAL_PAYLOADS, reviewOf } from './pull-request-events.ts';

describe('real payloads', () => {
  test('exist for every server', () => {
    expect(REAL_PAYLOADS.length).toBeGreaterThan(30);
  });

  test.each(REAL_PAYLOADS)('$title is reviewed, and every result can be stored', ({ payload }) => {
    const event = PullRequestEvent.parse(payload);
    const { event: _event, ...results } = reviewOf(event);
    expect(JSON.parse(toJsonText(results, 'results'))).toEqual(results);
    expect(results.size).toMatchObject({ bucket: 'XS', changedLines: 2, files: 1 });
    expect(results.labels.add).toContain('size/XS');
    expect(results.review.reviewers.length).toBeGreaterThan(0);
    expect(results.summary.headline).toContain('#2 Update the README with new information.');
  });

  test.each(REAL_PAYLOADS)(
    '$title is stored as a fraction of its size, and gives the same review again',
    ({ payload }) => {
      const event = PullRequestEvent.parse(payload);
      expect(JSON.stringify(event).length).toBeLessThan(JSON.stringify(payload).length / 5);
      expect(PullRequestEvent.parse(JSON.parse(toJsonText(event, 'input')))).toEqual(event);
    },
  );

  test('the README change of its owner is documentation of low risk', () => {
    const opened = REAL_PAYLOADS.find(({ payload }) => payload.action === 'opened');
    const { risk, labels, review, summary } = reviewOf(PullRequestEvent.parse(opened?.payload));
    expect(risk).toEqual({ level: 'low', score: 0, reasons: [] });
    expect(labels).toEqual({ add: ['size/XS', 'documentation'], keep: [], remove: [] });
    expect(review).toEqual({
      reviewers: [{ kind: 'role', who: 'any other contributor', because: 'nobody was asked yet' }],
      approvals: 1,
      when: 'now',
    });
    expect(summary.markdown).toBe(
      [
        '### Pull request #2: `Update the README with new information.`',
        '`Codertocat` wants to merge 1 commit from `changes` into `master` of `Codertocat/Hello-World`.',
        '**Size XS**: 2 changed lines (+1 −1) in 1 file.',
        '**Risk low**: no objections.',
        '**Reviewers** (1 approval needed):\n\n- any other contributor, because nobody was asked yet',
        '**Labels**:\n\n- add `size/XS`\n- add `documentation`\n',
      ].join('\n\n'),
    );
  });
});

describe('the event', () => {
  test.each(['action', 'number', 'pull_request', 'repository', 'sender'])(
    'without %s is refused',
    (field) => {
      const { [field]: _removed, ...rest } = { ...eventWith() } as Record<string, unknown>;
      const result = PullRequestEvent.safeParse(rest);
      expect(result.error?.issues[0]?.path).toEqual([field]);
    },
  );

  test('of a deleted author and a deleted fork is accepted', () => {
    const head = { ref: 'x', sha: 'c', repo: null };
    const event = PullRequestEvent.parse(eventWith({ user: null, head, body: null, draft: undefined }));
    expect(reviewOf(event).summary.markdown).toContain('a deleted account wants to merge');
  });

  test('keeps the beginning of a long body, without splitting a character', () => {
    for (const shift of [0, 1]) {
      const body = `${'x'.repeat(shift)}${'🐢'.repeat(MAX_BODY_CHARS)}`;
      const kept = PullRequestEvent.parse(eventWith({ body })).pull_request.body ?? '';
      expect(body.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      expect(kept.length).toBeGreaterThanOrEqual(MAX_BODY_CHARS - 1);
      expect(kept.length).toBeLessThanOrEqual(MAX_BODY_CHARS);
    }
  });
});
