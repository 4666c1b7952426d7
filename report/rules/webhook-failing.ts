import type { Evidence, Rule } from '../bundle-view.ts';
import { containerLogs, hostFilesIn } from '../reading/hosts.ts';
import { isRecent, linesLike } from '../reading/journal.ts';

/** Wording of the API server (apiserver/pkg/admission/plugin/webhook/errors). */
const LINE = /failed calling webhook \\*"([^"\\]+)\\*": (?:failed to call webhook: )?(.{0,200})/;

export const webhookFailing: Rule = {
  name: 'webhook-failing',
  looksFor:
    'admission webhook calls that failed in the last 5 minutes, from the journals and the log of kube-apiserver',
  todo: 'Check that the pods behind the webhook are running and that its certificate is valid. If they cannot start because of the webhook itself, delete its ValidatingWebhookConfiguration or MutatingWebhookConfiguration; its operator recreates it.',
  find(view) {
    const calls = new Map<string, { why: string; sinceMs: number; evidence: Evidence[] }>();
    const files = [
      ...hostFilesIn(view, 'journals/').filter((path) => path.endsWith('.log')),
      ...containerLogs(view, 'kube-apiserver'),
    ];
    for (const line of files.flatMap((path) => linesLike(view, path, LINE))) {
      if (!isRecent(line, view)) continue;
      const [, name = '', why = ''] = LINE.exec(line.text) ?? [];
      const known = calls.get(name);
      if (known === undefined) {
        calls.set(name, {
          why: why.replaceAll('\\', ''),
          sinceMs: line.atMs,
          evidence: [line.evidence],
        });
      } else if (known.evidence.length < 3) known.evidence.push(line.evidence);
    }
    return Array.from(calls, ([name, { why, sinceMs, evidence }]) => ({
      severity: 'warning',
      title: `The webhook ${name} cannot be called, so the requests that it guards are rejected: ${why}`,
      sinceMs,
      evidence,
    }));
  },
};
