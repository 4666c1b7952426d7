import { ASSIGNMENTS } from './assignments.ts';
import { AUDIT } from './audit.ts';
import { KEY_FILES } from './key-files.ts';
import type { LineRule, UnwrappedRule } from './line-rule.ts';
import { SECRET_OBJECTS } from './secret-objects.ts';

export const LINE_RULES: readonly (LineRule | UnwrappedRule)[] = [
  ASSIGNMENTS,
  SECRET_OBJECTS,
  AUDIT,
  KEY_FILES,
];
