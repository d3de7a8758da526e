/** Which runs are looked at: as the address of the page says it, and as the API is asked. Pure. */
import type { Answer } from '../../../api/client.ts';

export type RunStatus = Answer<'RunStarted'>['status'];

/** In the order in which a run meets them. */
export const STATUSES = [
  'pending',
  'running',
  'replaying',
  'awaiting_approval',
  'waiting_external',
  'interrupted',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly RunStatus[];

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly type?: string | undefined;
  readonly repoId?: string | undefined;
  readonly threadId?: string | undefined;
}

/** Names in the address of the page. */
export const NAMES = { status: 'status', type: 'type', repoId: 'repo', threadId: 'thread' } as const;

export function filterOf(search: string): RunFilter {
  const query = new URLSearchParams(search);
  const value = (name: keyof typeof NAMES) => query.get(NAMES[name])?.trim() || undefined;
  const status = value('status');
  return {
    // Of another vocabulary, or none: all are shown rather than an error over an address somebody mistyped.
    status: STATUSES.find((known) => known === status),
    type: value('type'),
    repoId: value('repoId'),
    threadId: value('threadId'),
  };
}

export function isFiltered(filter: RunFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** `failed, of review-pull-request`: what is looked at, in words. */
export function filterText({ status, type, repoId, threadId }: RunFilter): string {
  const parts = [
    status?.replaceAll('_', ' '),
    type && `of ${type}`,
    repoId && `about ${repoId}`,
    threadId && `of the thread ${threadId}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'all runs' : `runs ${parts.join(', ')}`;
}
