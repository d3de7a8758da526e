/**
 * Names of the members of everything that is stored and exchanged: of the types in `core/run/` and `ports/`. A test derives the
 * same names from their sources.
 */
export const MEMBER_NAMES: readonly string[] = `
a2aCorrelationId actor after afterHash again agent allowed alone aloneSince among announced answers
asksNothing at attempt attempts attributes beforeHash boundary bucket budget by bytes cancellation capabilityId
chain checked checkpoint checkpointHead checkpointId checkpoints child chunks claims client code cold collection
column compensating compensationLog completedAt config conflicts context cost count createdAt createdBefore
createdBy createdFrom currentStep cursor cutOff data dataSchemaText day deadlineAt deaths decision decisions
deleted deletes deletionMarkedAt depth detailText detailsText disabled dispatches documents due dueAt durationMs
durations dutiesMet effect effectId effectScopes effects effectsVersion end environment epoch erasure error
errorTrace event eventId events execution expectedAt expiredAt expiresAt failures feedback fields file
fingerprint firstEventId forced forcedBy found from functions handled hasUnpublishedEvents hash head headHash
heartbeat home id idempotencyKey idempotent inARow inFlight initiator input inputFrom inputHash inputsHash
installation installations interrupted interruptions isAlone isCut isLeased isMetadataDamaged isReachable itemKey
itemMarks items key killSwitch kind lagMs lastAt lastHandoff lastHeartbeatAt lastKey latest lease leaseExtendedTo leased
leasedUntil left legalHold limit line links location logged logs mailbox marks match message metadata microUsd
mode more name next nextAt notUndone now of oldestDueAt onParentEnd openedAt orderingKey originEffectId others
outcome outputFrom outputHash outputRef outputText outputsSummary owner parent parked paused payloadHash
payloadText payloads phase planFingerprint planText planVersion policyDue policySnapshotId polled polls pool
prId prUrl presumed prevHash problem problems project publishDueAt publishedSeq publishes purpose queues
quietDue raise readAt reads reason received record recordedAt records ref replaces replay repoId request
requestHash requestedAt reserved responseHash restore result resultHash resumable resumeCount resumedFrom retired retryAt
retryCount retryable revision revisions roles rootRunId rows runId running runs schedule schemaVersion
secretHash secretInput secretOf seen self sentBack seq serves sha256 shard shutDown signalId signals since
sinceLoss skipsBackoff slotAt snapshot snapshotHead snapshotVersion source spent startedAt startedAtMs state
status statuses step stepCounts stepId steps stopKind stopKinds sumMs supersededBy supersedes suspect suspension
tag tags tailWrites task tasks tenantId text threadId ties timeoutAt times to tokensUsed tookMs topLevel
topRunId trace traceId traceSampled transitions trigger type uid underway undo undoable undoes unread unreadable
until updatedAt updatedAtMs userId value version versions waitId waits waitsFor wakeAt watches webhookEventId
whenRoom why within withinMs withoutUndo writer writes writtenAt
`
  .trim()
  .split(/\s+/);
