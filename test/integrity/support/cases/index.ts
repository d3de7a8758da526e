/** All cases. */
import type { Case } from './case.ts';
import { DOCUMENTS } from './documents.ts';
import { JOURNAL } from './journal.ts';
import { LEDGER } from './ledger.ts';
import { SNAPSHOT } from './snapshot.ts';
import { SURROUNDINGS } from './surroundings.ts';

export const CASES: readonly Case[] = [...JOURNAL, ...SNAPSHOT, ...DOCUMENTS, ...SURROUNDINGS, ...LEDGER];
