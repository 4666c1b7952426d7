import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { AGENTS } from '../../lib/engine/agents/table.ts';
import type { ClusterCheck } from './check.ts';

/** The installation as told by the journals, in order: agent and step. */
const STORY = [
  'inspect-disk',
  'preflight',
  'payload',
  'render',
  'kubelet',
  'etcd',
  'control-plane',
  'manifests',
  'kubelet-identity',
  'api-objects',
  'quiesce',
  'snapshot',
  'stop-etcd',
  'log-bundle',
  'master-ignition',
  'combined-ignition',
  'finish',
  'write-disk',
  'copy-payload',
  'boot-order',
  'install-payload',
  'check-identity',
  'restore-database',
  'place-etcd',
  'api',
  'serving-certificate',
  'node-ready',
  'node-role',
  'add-ons',
  'bootstrap-complete',
  'steady-state',
  'clean',
  'verify-clean',
  'record',
  'complete',
  'retire',
] as const;

const SECRETS = [/PRIVATE KEY/, /eyJhbGciOi/, /client-key-data/, /"auth"\s*:\s*"[^<"]/];
/** Every agent logs under its own name. */
const agents = AGENTS.map(({ name }) => name).join('|');
const STACK = /^\s+at .+\(.+:\d+:\d+\)/;

/** `journalctl` alone is enough to follow an installation, and reveals no secrets. */
export const journalStory: ClusterCheck = {
  name: 'the journals tell every step in order, without a secret or a stack trace',
  run: async ({ journals }) => {
    const text = (await Promise.all(journals.map((path) => readFile(path, 'utf8')))).join('\n');
    let at = 0;
    for (const step of STORY) {
      for (const word of ['started', 'done']) {
        const found = text
          .slice(at)
          .search(new RegExp(`(?:${agents})\\[\\d+\\]: ${step}: ${word}`));
        if (found < 0) {
          throw new Failure('fatal', `the journals do not show that ${step} was ${word}`, {
            expected: 'its entry after all earlier ones',
          });
        }
        at += found;
      }
    }
    for (const line of text.split('\n')) {
      if (SECRETS.some((secret) => secret.test(line)) || STACK.test(line)) {
        throw new Failure('fatal', 'a journal contains a secret', {
          found: line.slice(0, 120),
        });
      }
    }
  },
};
