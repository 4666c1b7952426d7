import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** One line for each request, and for a watch at its start. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

const eventSchema = z.looseObject({
  auditID: z.string(),
  user: z.looseObject({ username: z.string() }),
});

/** The API server's own record of who requested what. */
export interface AuditLog {
  /** Arguments with which kube-apiserver writes it. */
  readonly args: readonly string[];
  /** How many requests a user made. */
  requestsOf(user: string): Promise<number>;
}

export async function prepareAuditLog(folder: string): Promise<AuditLog> {
  const [policyFile, log] = [join(folder, 'audit-policy.json'), join(folder, 'audit.log')];
  await writeFile(policyFile, JSON.stringify(policy));
  return {
    args: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${log}`],
    async requestsOf(user) {
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
      const events = lines.map((line) => eventSchema.parse(JSON.parse(line)));
      const own = events.filter(({ user: { username } }) => username === user);
      return new Set(own.map(({ auditID }) => auditID)).size;
    },
  };
}
