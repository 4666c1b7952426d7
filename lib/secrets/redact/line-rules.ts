import { ASSIGNMENTS } from './assignments.ts';
import type { LineRule } from './line-rule.ts';

export const LINE_RULES: readonly LineRule[] = [ASSIGNMENTS];
