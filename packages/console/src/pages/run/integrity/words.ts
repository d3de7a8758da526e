/** What a check and a repair of a run found, in words. Pure. */
import type { Answer } from '../../../api/client.ts';

export type Consistency = Answer<'Consistency'>;
export type Repair = Answer<'Repair'>;

export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly mark: string;
  readonly words: string;
}

export function verdictOf({ verdict, head = 0, problems, more = 0 }: Consistency): Verdict {
  const found = problems.length + more;
  const count = `${found} ${found === 1 ? 'problem' : 'problems'}`;
  switch (verdict) {
    case 'consistent':
      return { tone: 'good', mark: '✓', words: `Checked: whole, ${head} events.` };
    case 'healable':
      return { tone: 'warn', mark: '!', words: `${count}. A repair puts all of it right.` };
    case 'needs_person':
      return { tone: 'bad', mark: '✕', words: `${count}. Some of it takes a person.` };
    case 'broken':
      return {
        tone: 'bad',
        mark: '✕',
        words: `${count}. The journal itself is in question, and nothing can be repaired.`,
      };
  }
}

const OUTCOMES: Readonly<Record<Repair['outcome'], string>> = {
  sound: 'There is nothing to repair.',
  refused: 'None of it can be repaired.',
  planned: 'This would be changed:',
  applied: 'This was changed:',
};

export function repairWords({ outcome }: Repair): string {
  return OUTCOMES[outcome];
}
