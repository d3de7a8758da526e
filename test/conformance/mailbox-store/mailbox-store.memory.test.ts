import { memoryHarness } from '../support/harness.memory.ts';
import { mailboxStoreConformance } from './mailbox-store.suite.ts';

mailboxStoreConformance('memory mailbox store', memoryHarness());
