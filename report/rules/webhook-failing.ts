import type { Evidence, Rule } from '../bundle-view.ts';
import { hostFilesIn } from '../reading/hosts.ts';
import { isRecent, linesLike } from '../reading/journal.ts';

/** As the API server words it (apiserver/pkg/admission/plugin/webhook/errors). */
const LINE = /failed calling webhook \\*"([^"\\]+)\\*": (?:failed to call webhook: )?(.{0,200})/;

export const webhookFailing: Rule = {
  name: 'webhook-failing',
  looksFor:
    'calls of admission webhooks that failed in the last 5 minutes, in the journals and in the log of kube-apiserver',
  todo: 'See that the pods behind the webhook run and that its certificate is valid. If they cannot start because of the webhook itself, delete its ValidatingWebhookConfiguration or MutatingWebhookConfiguration; its operator makes it again.',
  find(view) {
    const calls = new Map<string, { why: string; sinceMs: number; evidence: Evidence[] }>();
    const files = [
      ...hostFilesIn(view, 'journals/').filter((path) => path.endsWith('.log')),
      ...hostFilesIn(view, 'containers/').filter((path) =>
        /\/kube-apiserver-[^/]*\.log$/.test(path),
      ),
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
      rule: this.name,
      severity: 'warning',
      title: `The webhook ${name} cannot be called, so what it guards is refused: ${why}`,
      sinceMs,
      evidence,
      todo: this.todo,
    }));
  },
};
