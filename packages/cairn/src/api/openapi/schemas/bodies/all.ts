/**
 * Schemas of request bodies, by their names in the document. Requests are parsed by them, so an instance loads them when it
 * starts; those of responses only with the document.
 */
import * as bulk from './bulk.ts';
import * as installation from './installation.ts';
import * as retention from './retention.ts';
import * as runs from './runs.ts';
import * as schedules from './schedules.ts';

export const BODIES = { ...runs, ...retention, ...installation, ...schedules, ...bulk };

export type BodyName = keyof typeof BODIES;
