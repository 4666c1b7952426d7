import t from 'tap';
import { redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import { TRIGGERS, type Trigger, TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';
import { redacted } from './streams.ts';
import { LINES as GENERAL_LINES, hex, SECRET } from './trigger-lines.ts';
import { FILE_LINES } from './trigger-lines-of-files.ts';

const LINES = [...GENERAL_LINES, ...FILE_LINES];

// A lot of work, possibly on a busy machine.

/** Nor these, which have a form of their own. */
const OTHERS = ['0123456789abcdef', 'd3E4f-G5h6I', 'correcthorse', 'cbdefghi'];
const FORMS = [SECRET, SECRET.toUpperCase(), hex(SECRET), ...OTHERS].concat(
  Buffer.from(`me:${SECRET}`).toString('base64'),
);

/** Whether the line still contains the secret if only some triggers are active. */
async function survives(line: string, triggers: readonly Trigger[]): Promise<boolean> {
  const marks = { of: () => '<redacted>' };
  const { text } = redactorWith(marks, [], new TriggerSearch(triggers));
  const output = (await redacted(text, Buffer.from(line))).toString();
  return FORMS.some((form) => output.includes(form));
}

/** As triggers are written. */
const latin1 = (line: string) => Buffer.from(line).toString('latin1').toLowerCase();

t.test('the secret in every line is found', async (t) => {
  for (const line of LINES) {
    t.ok(await survives(line, []), `without triggers: ${line}`);
    t.notOk(await survives(line, TRIGGERS), line);
  }
});

t.test('without any one trigger a secret survives', async (t) => {
  for (const trigger of TRIGGERS) {
    const { text, rule } = trigger;
    const others = TRIGGERS.filter((each) => each !== trigger);
    const lines = LINES.filter((line) => latin1(line).includes(text.toLowerCase()));
    let isNeeded = false;
    for (const line of lines) isNeeded ||= await survives(line, others);
    const isPattern = typeof rule === 'object' && 'find' in rule;
    t.ok(isNeeded, `${isPattern ? rule.find.source.slice(0, 60) : ''}: ${text}`);
  }
});
