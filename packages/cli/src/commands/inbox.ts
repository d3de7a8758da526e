/** `inbox`: the open questions to people. */
import { command } from '../arguments/command.ts';
import { answerLines, externalList, findingList, inboxTable } from '../views/inbox.ts';
import { limitOption, noteMore, noteUnreadable } from './listed.ts';

const USUAL = 20;
/** Maximum of listed runs, which takes ten requests. */
const MOST = 1_000;

export const inbox = command({
  name: 'inbox',
  summary: 'List open questions, oldest first, each with the command that answers it',
  options: { limit: limitOption({ most: MOST, usual: USUAL, what: 'about how many questions' }) },
  examples: [
    ['inbox', 'what waits for a person'],
    ['inbox --limit 500 --json', 'for a script'],
  ],
  async run({ api, out, notes }, { options: { limit = USUAL } }) {
    const found = await api.list('/v1/inbox', { limit });
    const { findings = [], external = [] } = found;
    out.answer(
      found,
      (shape) =>
        inboxTable(found.items, api.now(), shape) +
        answerLines(found.items, shape) +
        externalList(external, api.now(), shape) +
        findingList(findings, api.now(), shape),
    );
    if (found.items.length + external.length + findings.length === 0 && !out.json)
      notes.print('No open questions.\n');
    noteUnreadable({ out, notes }, found.unreadable);
    noteUnreadable(
      { out, notes },
      found.unreadableEffects,
      () => 'an effect whose row must be restored from a backup',
    );
    noteMore({ out, notes }, found.more);
  },
});
