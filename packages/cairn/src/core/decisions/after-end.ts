/**
 * Decides what a dispatch does when its work on a claimed run has ended: which dispatch follows, and who handles the run's
 * completion duties and unpublished events. Pure and total. The first row that applies decides:
 *
 * | the work ended as     | reported as     | next dispatch | duties and events                        |
 * |-----------------------|-----------------|---------------|------------------------------------------|
 * | lease_lost            | lease_lost      | –             | left to the worker that took the run     |
 * | any, and it is over   | closed          | –             | settled                                  |
 * | not_begun             | waiting         | –             | settled                                  |
 * | released              | released        | now           | published; the next claim comes too soon |
 * |                       |                 |               | for the watermark to be written          |
 * | released until a time | released        | then          | settled                                  |
 * | suspended             | suspended       | –             | settled                                  |
 * | suspended until a time| suspended       | then          | settled                                  |
 * | failed until a time   | failed          | then          | left to the next dispatch                |
 *
 * Another process may have ended the run after this dispatch released it. A released or failed run is reported if its dispatches
 * fail repeatedly.
 */

/** End of the work on a claimed run. Times in epoch ms. */
export type ClaimedEnd =
  | SessionEnd
  /** The commit of the claim ended the run, blocked it on deployment, or asked a person about it. */
  | { readonly kind: 'not_begun' }
  /** The dispatch threw, and released the run. */
  | { readonly kind: 'failed'; readonly dueAt: number };

/** End of a dispatch for the run. */
export type SessionEnd =
  | { readonly kind: 'closed' }
  /** `dueAt` (epoch ms) is when the next dispatch has work; absent: immediately. */
  | { readonly kind: 'released'; readonly dueAt?: number | undefined }
  /** `dueAt` absent: an answer is required. */
  | { readonly kind: 'suspended'; readonly dueAt?: number | undefined }
  | { readonly kind: 'lease_lost' };

export interface AfterEnd {
  readonly reportedAs: 'lease_lost' | 'closed' | 'waiting' | 'released' | 'suspended' | 'failed';
  /** Dispatch to enqueue; `at` undefined: at once. */
  readonly next?: { readonly at: number | undefined };
  /** `settle`: completion duties are met, events are published, and both are recorded. */
  readonly events: 'leave' | 'publish' | 'settle';
  readonly mayBeStuck?: true;
}

export function afterEnd(end: ClaimedEnd, isOver: boolean): AfterEnd {
  if (end.kind === 'lease_lost') return { reportedAs: 'lease_lost', events: 'leave' };
  if (isOver) return { reportedAs: 'closed', events: 'settle' };
  switch (end.kind) {
    case 'closed':
      return { reportedAs: 'closed', events: 'settle' };
    case 'not_begun':
      return { reportedAs: 'waiting', events: 'settle' };
    case 'released': {
      const events = end.dueAt === undefined ? 'publish' : 'settle';
      return { reportedAs: 'released', next: { at: end.dueAt }, events, mayBeStuck: true };
    }
    case 'suspended': {
      const suspended = { reportedAs: 'suspended', events: 'settle' } as const;
      return end.dueAt === undefined ? suspended : { ...suspended, next: { at: end.dueAt } };
    }
    case 'failed':
      return { reportedAs: 'failed', next: { at: end.dueAt }, events: 'leave', mayBeStuck: true };
  }
}
