import t from 'tap';
import { stagesOf } from '../../../cli/process/stages.ts';

t.test('at a terminal, each stage with the time so far; otherwise nothing', async (t) => {
  const said: string[] = [];
  const complain = (text: string) => said.push(text);
  let now = 0;
  t.capture(performance, 'now', () => now);
  const stage = stagesOf({ columns: 80, complain });
  stage('Verifying the payload');
  now = 65_000;
  stage('Copying it');
  stagesOf({ complain })('Verifying the payload');
  t.strictSame(said, ['  0s  Verifying the payload', '1m5s  Copying it']);
});
