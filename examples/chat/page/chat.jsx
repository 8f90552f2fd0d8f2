/** A chat over a session: what is said as it comes, calls that wait for a person, and what other tabs do. */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import React, { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';

const API = '/agent';

async function ask(path, body) {
  const response = await fetch(API + path, {
    ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

/** The server has the whole conversation: the newest message is enough. */
const transport = new DefaultChatTransport({
  api: `${API}/chat`,
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
    body: { id, messages: messages.slice(-1), trigger, messageId },
  }),
});

function Tool({ part, onAnswer }) {
  const [note, setNote] = useState('');
  const answer = (approved) => onAnswer({ id: part.approval.id, approved, ...(note && { reason: note }) });
  return (
    <section className="tool" data-state={part.state}>
      <strong>{part.toolName}</strong> <span>{part.state}</span>
      <pre>{JSON.stringify(part.input, null, 2)}</pre>
      {part.state === 'approval-requested' && (
        <form onSubmit={(event) => event.preventDefault()}>
          <button type="button" onClick={() => answer(true)}>
            Allow
          </button>
          <button type="button" onClick={() => answer(false)}>
            Deny
          </button>
          <input
            aria-label="Why"
            placeholder="Why (for the agent)"
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
        </form>
      )}
      {part.state === 'output-error' && <p role="alert">{part.errorText}</p>}
    </section>
  );
}

function Message({ message, onAnswer }) {
  return (
    <li data-role={message.role}>
      {message.parts.map((part, index) => {
        if (part.type === 'text') return <p key={index}>{part.text}</p>;
        if (part.type === 'reasoning') return <em key={index}>{part.text}</em>;
        return part.type === 'dynamic-tool' ? <Tool key={index} part={part} onAnswer={onAnswer} /> : null;
      })}
    </li>
  );
}

/** What another tab says or answers, and what the agent does by itself. */
const NEWS = ['user.message', 'wake.started', 'permission.requested', 'permission.resolved', 'session.status_idle'];

function Chat({ sessionId, initial, head }) {
  const [waiting, setWaiting] = useState();
  const chat = useChat({
    ...{ id: sessionId, messages: initial, resume: true, transport },
    onData: (part) => part.type === 'data-waiting' && setWaiting(part.data),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const { messages, status, error } = chat;
  const [text, setText] = useState('');
  const now = useRef(chat);
  now.current = chat;
  useEffect(() => {
    const events = new EventSource(`${API}/sessions/${sessionId}/events?from=${head + 1}`);
    const rests = () => ['ready', 'error'].includes(now.current.status);
    const refresh = async ({ type }) => {
      if (type === 'wake.started') setWaiting(undefined);
      if (!rests()) return;
      const fresh = await ask(`/chat/${sessionId}/messages`);
      if (!rests()) return;
      now.current.setMessages(fresh);
      await now.current.resumeStream();
    };
    for (const type of NEWS) events.addEventListener(type, refresh);
    return () => events.close();
  }, [sessionId, head]);
  return (
    <main>
      <h1>A chat with approvals</h1>
      <ol>
        {messages.map((message) => (
          <Message key={message.id} message={message} onAnswer={chat.addToolApprovalResponse} />
        ))}
      </ol>
      <p role="status">{status === 'ready' ? '' : status}</p>
      {waiting && !error && <p>It waits for a worker: {waiting.reason}.</p>}
      {error && <p role="alert">{error.message}</p>}
      <form
        className="say"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === '') return;
          void chat.sendMessage({ text });
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button disabled={status !== 'ready' && status !== 'error'}>Send</button>
        <button type="button" onClick={() => void ask(`/sessions/${sessionId}/interrupt`, {})}>
          Stop
        </button>
      </form>
    </main>
  );
}

const known = new URLSearchParams(location.search).get('session');
const { sessionId, head } = await ask(
  known ? `/sessions/${known}` : '/sessions',
  known ? undefined : { agentId: 'noter' },
);
history.replaceState(null, '', `?session=${sessionId}`);
const initial = await ask(`/chat/${sessionId}/messages`);
createRoot(document.querySelector('#root')).render(<Chat sessionId={sessionId} initial={initial} head={head} />);
