/**
 * Owns the text of the review: one line, and a short Markdown report.
 *
 * Must not: find anything; it only describes the results of the other steps.
 */
import type { PullRequestEvent } from './event.ts';
import type { FileReview } from './file-review.ts';
import type { LabelAdvice } from './labels.ts';
import type { ReviewAdvice } from './reviewers.ts';
import type { Risk } from './risk.ts';
import type { PullRequestSize } from './size.ts';
import type { Verdict } from './verdict.ts';

export type ReviewSummary = {
  /** One line of plain text, at most {@link MAX_HEADLINE_CHARS}. */
  readonly headline: string;
  readonly markdown: string;
};

/** Limit that fits a commit status, the first line of a chat message, and a list. */
export const MAX_HEADLINE_CHARS = 140;

export interface Findings {
  readonly event: PullRequestEvent;
  readonly size: PullRequestSize;
  readonly risk: Risk;
  readonly labels: LabelAdvice;
  readonly review: ReviewAdvice;
  /** Present since version 2 of the review. */
  readonly verdict?: Verdict;
  readonly files?: readonly FileReview[];
}

/** Findings of files shown. Nobody reads a longer report. */
const MAX_SHOWN = 50;

export function summarise(findings: Findings): ReviewSummary {
  const { event, size, risk, labels, review } = findings;
  const pr = event.pull_request;
  const author = pr.user === null ? 'a deleted account' : code(pr.user.login);
  const sections = [
    `### Pull request #${pr.number}: ${code(pr.title)}`,
    `${author} wants to merge ${count(pr.commits, 'commit')} from ${code(pr.head.ref)} into ${code(pr.base.ref)} ` +
      `of ${code(event.repository.full_name)}.`,
    `**Size ${size.bucket}**: ${count(size.changedLines, 'changed line')} (+${size.additions} −${size.deletions}) ` +
      `in ${count(size.files, 'file')}.`,
    section(
      `**Risk ${risk.level}**`,
      'no objections.',
      risk.reasons.map(({ because }) => because),
    ),
    section(
      `**Reviewers${review.when === 'now' ? '' : ', once the draft is ready'}** ` +
        `(${count(review.approvals, 'approval')} needed)`,
      'nobody.',
      review.reviewers.map(
        ({ kind, who, because }) => `${kind === 'role' ? who : code(who)}, because ${because}`,
      ),
    ),
    section('**Labels**', 'no changes.', [
      ...labels.add.map((name) => `add ${code(name)}`),
      ...labels.remove.map((name) => `remove ${code(name)}`),
    ]),
    ...verdictSections(findings),
  ];
  return { headline: headline(findings), markdown: `${sections.join('\n\n')}\n` };
}

function verdictSections({ verdict, files = [] }: Findings): string[] {
  if (!verdict) return [];
  const shown = files.flatMap(({ filename, findings }) =>
    findings.map(({ severity, what, line }) => {
      const place = code(line === undefined ? filename : `${filename}:${line}`);
      return `${severity}: ${what}, in ${place}`;
    }),
  );
  const rest = shown.length - MAX_SHOWN;
  return [
    ...(files.length === 0
      ? []
      : [
          section(`**Files read**: ${files.length}`, 'no findings.', [
            ...shown.slice(0, MAX_SHOWN),
            ...(rest > 0 ? [`and ${rest} more`] : []),
          ]),
        ]),
    `**Verdict**: ${verdict.call}.`,
    ...(verdict.remark === undefined ? [] : [`**Sent back with**: ${code(verdict.remark)}`]),
  ];
}

function headline({ event, size, risk, review }: Findings): string {
  const facts = `size ${size.bucket}, risk ${risk.level}, ${count(review.approvals, 'approval')} needed`;
  const place = `#${event.pull_request.number} `;
  const room = MAX_HEADLINE_CHARS - place.length - facts.length - 3;
  return `${place}${shorten(oneLine(event.pull_request.title), room)} (${facts})`;
}

function section(title: string, ifEmpty: string, items: readonly string[]): string {
  if (items.length === 0) return `${title}: ${ifEmpty}`;
  return [`${title}:`, '', ...items.map((item) => `- ${item}`)].join('\n');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * External text as a code span, which GitHub does not format and whose mentions do not notify. Backticks, which would end
 * the span, become apostrophes.
 */
export function code(text: string): string {
  return `\`${oneLine(text).replaceAll('`', "'")}\``;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Counts code points, so that no character is split. */
function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let kept = '';
  for (const character of text) {
    if (kept.length + character.length > maxChars - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
