/** All tools, in the order in which clients list them. */
import { cancelRun } from './acts/cancel.ts';
import { decide } from './acts/decide.ts';
import { resolveEffect } from './acts/resolve.ts';
import { resumeRun } from './acts/resume.ts';
import { startRun } from './acts/start.ts';
import { READS } from './reads.ts';
import type { Tool } from './tool.ts';

export const TOOLS: readonly Tool[] = [
  ...READS,
  ...startRun,
  ...resumeRun,
  ...decide,
  ...resolveEffect,
  ...cancelRun,
];
