import { ASSIGNMENTS } from './assignments.ts';
import { AUDIT } from './audit.ts';
import { CHPASSWD } from './chpasswd.ts';
import { KEY_FILES } from './key-files.ts';
import type { LineRule } from './line-rule.ts';
import { SECRET_OBJECTS } from './secret-objects.ts';

export const LINE_RULES: readonly LineRule[] = [
  ASSIGNMENTS,
  SECRET_OBJECTS,
  AUDIT,
  CHPASSWD,
  KEY_FILES,
];
