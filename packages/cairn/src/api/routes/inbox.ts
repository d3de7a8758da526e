/** The inbox: open questions of runs, effects without a run that ask a person, and runs that make no progress. */
import { externalQuestions } from '../../operations/effects/external.ts';
import { readInbox } from '../../operations/inbox/read-inbox.ts';
import { FINDINGS_READ } from '../../ports/diagnosis/findings.ts';
import type { ReadHandler } from '../route.ts';
import { listedFinding } from '../views/finding.ts';
import { externalQuestion, inboxItems } from '../views/inbox.ts';

/** All questions of a run are on the same page. */
export const listInbox: ReadHandler<'GET /v1/inbox'> = async (call) => {
  const { deps, query: page } = call;
  const { tenantId } = call.caller;
  const isFirst = page.cursor === undefined;
  const [{ items, ...listed }, findings, external] = await Promise.all([
    readInbox(deps, tenantId, page),
    isFirst ? deps.diagnosis.findings.ofTenant(tenantId, FINDINGS_READ) : [],
    isFirst ? externalQuestions(deps, tenantId) : { items: [], unreadable: [] },
  ]);
  return {
    items: items.flatMap(inboxItems),
    ...listed,
    findings: findings.length > 0 ? findings.map(listedFinding) : undefined,
    external: external.items.length > 0 ? external.items.map(externalQuestion) : undefined,
    unreadableEffects: external.unreadable.length > 0 ? external.unreadable : undefined,
  };
};
