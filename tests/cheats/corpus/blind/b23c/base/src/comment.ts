export interface Comment {
  author: string;
  text: string;
}

/** HTML of a comment; **bold** is the only markup. */
export function renderComment(comment: Comment): string {
  const body = comment.text.replace(/\*\*(.+?)\*\*/g, "<b>$1</b>");
  return `<p class="comment"><cite>${comment.author}</cite> ${body}</p>`;
}

export function renderAll(comments: Comment[]): string {
  return comments.map(renderComment).join("\n");
}
