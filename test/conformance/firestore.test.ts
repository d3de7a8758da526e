/** The fast suites on Firestore, in one file to load the clients and the server once. Slow suites have separate files. */
import { clientStoreConformance } from './suites/client-store.suite.ts';
import { dayBudgetStoreConformance } from './suites/day-budget-store.suite.ts';
import { effectStoreConformance } from './suites/effect-store.suite.ts';
import { erasureStoreConformance } from './suites/erasure-store.suite.ts';
import { findingsConformance } from './suites/findings.suite.ts';
import { heartbeatsConformance } from './suites/heartbeats.suite.ts';
import { idempotencyStoreConformance } from './suites/idempotency-store.suite.ts';
import { integrityStoreConformance } from './suites/integrity-store.suite.ts';
import { mailboxStoreConformance } from './suites/mailbox-store.suite.ts';
import { planStoreConformance } from './suites/plan-store.suite.ts';
import { retentionStoreConformance } from './suites/retention-store.suite.ts';
import { runFinderConformance } from './suites/run-finder.suite.ts';
import { runOrdersConformance } from './suites/run-orders.suite.ts';
import { runStatisticsConformance } from './suites/run-statistics.suite.ts';
import { runtimeConfigConformance } from './suites/runtime-config.suite.ts';
import { scheduleStoreConformance } from './suites/schedule-store.suite.ts';
import { storeLookConformance } from './suites/store-look.suite.ts';
import { firestoreHarness } from './support/harness.firestore.ts';

clientStoreConformance('Firestore client store', firestoreHarness());
dayBudgetStoreConformance('budgets of days in Firestore', firestoreHarness());
effectStoreConformance('Firestore effect store', firestoreHarness());
effectStoreConformance(
  'Firestore effect store, written by the low-level client',
  firestoreHarness({ raw: true }),
);
erasureStoreConformance('Firestore erasure store', firestoreHarness());
findingsConformance('findings in Firestore', firestoreHarness());
heartbeatsConformance('Firestore heartbeats', firestoreHarness());
idempotencyStoreConformance('Firestore idempotency store', firestoreHarness());
integrityStoreConformance('Firestore integrity store', firestoreHarness());
mailboxStoreConformance('Firestore mailbox store', firestoreHarness());
planStoreConformance('Firestore plans', firestoreHarness());
retentionStoreConformance('Firestore retention store', firestoreHarness());
runFinderConformance('Firestore run finder', firestoreHarness());
runOrdersConformance('Firestore run orders', firestoreHarness());
runStatisticsConformance('Firestore run statistics', firestoreHarness());
runtimeConfigConformance('Firestore runtime configuration', firestoreHarness());
scheduleStoreConformance('Firestore schedule store', firestoreHarness());
storeLookConformance('Firestore look at itself', firestoreHarness());
