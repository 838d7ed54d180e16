import type { Message } from "./process";

interface Place {
  last: number;
  /** What came of the last sequence: one event may be told in two notifications. */
  seen: Set<string>;
}

/** Which threads this client listens to, and how far each has been heard: where to go on after a restart. */
export class Subscriptions {
  private readonly places = new Map<string, Place>();

  /** Learn from an answered request. */
  answered(method: string, params: any, result: any): void {
    const name = /^(thread|agentSession\/thread)\/resume$|^(thread|agentSession)\/start$|^thread\/fork$|^session\.(create|resume|fork)$/;
    if (name.test(method)) {
      const thread = result?.thread?.id ?? result?.session?.threadId ?? params?.threadId ?? params?.sessionId;
      if (typeof thread !== "string" || this.places.has(thread)) return;
      if (result?.thread?.ephemeral) return; // it ends with the process
      // a new thread's own event is still to be told; what was there before a resume or fork is no news
      const known = /start$|create$/.test(method) ? 0 : result?.thread?.lastSequence ?? 0;
      const after = params?.afterSequence ?? known;
      this.places.set(thread, { last: after, seen: new Set() });
    } else if (method === "thread/unsubscribe" || method === "thread/delete") {
      this.places.delete(params?.threadId);
    }
  }

  /** Whether this notification is news. */
  heard(message: Message): boolean {
    const params = message.params ?? {};
    const thread = params.threadId ?? params.event?.threadId ?? params.thread?.id;
    const sequence = params.sequence ?? params.event?.sequence;
    const place = this.places.get(thread);
    if (message.method === "thread/deleted") this.places.delete(thread);
    if (place === undefined || typeof sequence !== "number" || message.method === "thread/replay/event") return true;
    const what = `${message.method} ${params.item?.id ?? params.turn?.id ?? params.event?.eventId ?? ""}`;
    if (sequence < place.last || (sequence === place.last && place.seen.has(what))) return false;
    if (sequence > place.last) {
      place.last = sequence;
      place.seen = new Set();
    }
    place.seen.add(what);
    return true;
  }

  /** The params of thread/resume for each: from before the last sequence, in case only a part of it was told. */
  resumes(): { threadId: string; excludeTurns: true; afterSequence: number }[] {
    return [...this.places].map(([threadId, { last, seen }]) => ({
      threadId,
      excludeTurns: true,
      afterSequence: Math.max(0, seen.size > 0 ? last - 1 : last),
    }));
  }

  drop(threadId: string): void {
    this.places.delete(threadId);
  }
}
