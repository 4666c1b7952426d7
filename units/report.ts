import { readFileSync } from 'node:fs';
import { agentLinks, type LinkOnHost } from '../lib/engine/agents/links.ts';
import type { UnitFile } from './unit-file.ts';

/** The agent as a command, on the same hosts. */
export const reportLinks: readonly LinkOnHost[] = agentLinks(['sno-report']);

/** Of every host with a control plane, live or installed: they do nothing without a report-to.json. */
export const reportUnits: readonly UnitFile[] = [
  {
    name: 'sno-report.service',
    enabled: false,
    contents: readFileSync(new URL('./report/sno-report.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-report.path',
    enabled: true,
    contents: readFileSync(new URL('./report/sno-report.path', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-report.timer',
    enabled: true,
    contents: readFileSync(new URL('./report/sno-report.timer', import.meta.url), 'utf8'),
  },
];
