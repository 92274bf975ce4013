// LangGraph's own API for what acts, the page's data for what is shown. The page lies at <server>/page/.

const SERVER = new URL("..", document.baseURI);
export const GONE = 404;
export const ODD = 422;
const STREAM = { stream_mode: ["custom", "updates"], stream_resumable: true, durability: "sync" };

async function ask(method, path, body) {
  const base = path.startsWith("data/") ? document.baseURI : SERVER;
  const options = { method, headers: body === undefined ? {} : { "content-type": "application/json" } };
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await fetch(new URL(path, base), options);
  const text = await answer.text();
  if (!answer.ok) throw Object.assign(new Error(detail(text) || `${answer.status} ${answer.statusText}`), { status: answer.status });
  return text ? JSON.parse(text) : null;
}

function detail(text) {
  try {
    const said = JSON.parse(text);
    return typeof said.detail === "string" ? said.detail : said.message ?? text;
  } catch { return text.slice(0, 500); }
}

export const runs = () => ask("GET", "data/runs");
export const patterns = () => ask("POST", "assistants/search", { limit: 100 });
export const schemas = (assistant) => ask("GET", `assistants/${encodeURIComponent(assistant)}/schemas`);
export const remove = (thread) => ask("DELETE", `threads/${encodeURIComponent(thread)}`);
export const stop = (thread, run) => ask("POST", `threads/${encodeURIComponent(thread)}/runs/${encodeURIComponent(run)}/cancel?wait=1&action=interrupt`);

export async function start(pattern, input, context, thread) {
  const id = thread ?? (await ask("POST", "threads", { metadata: { task: input.task, graph_id: pattern } })).thread_id;
  await ask("POST", `threads/${encodeURIComponent(id)}/runs`, { assistant_id: pattern, input, context, multitask_strategy: "reject", ...STREAM });
  return id;
}

// `answers` maps the ids of interrupts to answers; settings are not kept with a thread, so they are sent again.
export function resume(head, answers) {
  const command = { resume: answers };
  return ask("POST", `threads/${encodeURIComponent(head.thread)}/runs`, { assistant_id: head.assistant, command, context: head.context, ...STREAM });
}

// Aegra takes no run without input, answer or checkpoint; this names the thread's latest, as none would. With its id
// LangGraph would do finished steps of a round again.
export function goOn(head) {
  const rest = { input: null, checkpoint: { checkpoint_ns: "" }, context: head.context, ...STREAM };
  return ask("POST", `threads/${encodeURIComponent(head.thread)}/runs`, { assistant_id: head.assistant, ...rest });
}

export const stamp = (thread) => ask("GET", `data/runs/${encodeURIComponent(thread)}/stamp`);

// Calls `see` with each patch of a run; it ends by itself when nothing goes on. `failed` takes why it can't be shown and
// the status of the answer, null while it is tried again. Returns what closes it.
export function live(thread, see, failed) {
  const source = new EventSource(`data/runs/${encodeURIComponent(thread)}/live`);
  source.onmessage = (message) => {
    const patch = JSON.parse(message.data);
    if (patch.over || patch.odd) source.close();
    if (patch.odd) failed(patch.odd, ODD);
    else see(patch);
  };
  source.onerror = () => (source.readyState === EventSource.CLOSED ? reason(source.url).then((found) => failed(...found)) : failed(null));
  return () => source.close();
}

// An event source that is refused does not say why; the same address asked plainly does.
async function reason(url) {
  const leave = new AbortController();
  try {
    const answer = await fetch(url, { signal: leave.signal });
    return [answer.ok ? "" : detail(await answer.text()) || String(answer.status), answer.status];
  } catch (error) {
    return [error.message];
  } finally {
    leave.abort();
  }
}
