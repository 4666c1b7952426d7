import { ASSIGNMENTS } from './assignments.ts';
import { AUDIT } from './audit.ts';
import { ruleOf } from './pattern.ts';
import { PATTERNS } from './patterns.ts';
import { PEM } from './pem.ts';
import { PERCENT } from './percent.ts';
import type { SecretRule } from './rule.ts';
import { SECRET_OBJECTS } from './secret-objects.ts';

export const RULES: readonly SecretRule[] = [
  PEM,
  SECRET_OBJECTS,
  ASSIGNMENTS,
  AUDIT,
  ...PATTERNS.map(ruleOf),
  PERCENT,
];
