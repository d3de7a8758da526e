/** Result of a check and a repair of a run, as text. Pure. */
import type { Answer } from '../../../api/client.ts';

export type Consistency = Answer<'Consistency'>;
export type Repair = Answer<'Repair'>;

interface IntegritySummary {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly mark: string;
  readonly words: string;
}

export function integritySummary({ verdict, head = 0, problems, more = 0 }: Consistency): IntegritySummary {
  const found = problems.length + more;
  const count = `${found} ${found === 1 ? 'problem' : 'problems'}`;
  switch (verdict) {
    case 'consistent':
      return { tone: 'good', mark: '✓', words: `Checked: whole, ${head} events.` };
    case 'healable':
      return { tone: 'warn', mark: '!', words: `${count}. A repair fixes all of it.` };
    case 'needs_person':
      return { tone: 'bad', mark: '✕', words: `${count}. Some of it needs a person.` };
    case 'broken':
      return {
        tone: 'bad',
        mark: '✕',
        words: `${count}. The journal itself is damaged, and nothing can be repaired.`,
      };
  }
}

const OUTCOMES: Readonly<Record<Repair['outcome'], string>> = {
  sound: 'Nothing to repair.',
  refused: 'None of it can be repaired.',
  planned: 'These changes would be made:',
  applied: 'These changes were made:',
};

export function repairWords({ outcome }: Repair): string {
  return OUTCOMES[outcome];
}
