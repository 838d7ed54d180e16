;;; Emacs' own jsonrpc.el: Content-Length; what is empty it sends as null; it ends by killing at once.  -*- lexical-binding: t -*-
(require 'jsonrpc)
(require 'cl-lib)

(defvar place (json-parse-string (getenv "HOST_PLACE") :object-type 'plist))
(defvar heard nil)
(defvar big
  (let ((one "Füße ✓ 漢字 🧵 \u2028|"))
    (apply #'concat (make-list 240000 one))))

(setq jsonrpc-default-request-timeout 60)
(setq process-adaptive-read-buffering nil)
(setq read-process-output-max (* 1024 1024))

(defvar connection
  (jsonrpc-process-connection
   :name "sidecar"
   :events-buffer-scrollback-size 0
   :notification-dispatcher (lambda (_connection method _params) (push method heard))
   :process (lambda ()
              (make-process :name "sidecar" :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                            :stderr (get-buffer-create "*sidecar stderr*")
                            :command (cons (plist-get place :sidecar)
                                           (append (plist-get place :arguments) nil))))))

(defun ask (method params) (jsonrpc-request connection method params))

(defun append-events (thread turn &rest events)
  (ask :agentSession/runtimeEvents/append
       `(:sessionId ,thread :turnId ,turn :runtimeEvents ,(vconcat events))))

(defvar refused nil)

(let* ((hello (ask :initialize '(:clientInfo (:name "emacs" :version "1"))))
       (_ (jsonrpc-notify connection :initialized nil))
       (thread (plist-get (plist-get (ask :thread/start `(:cwd ,(plist-get place :workspace))) :thread) :id))
       (turn (plist-get (plist-get (ask :turn/start `(:threadId ,thread :input [(:type "text" :text "Change the poem")]))
                                   :turn)
                        :id)))
  (append-events thread turn
                 '(:type "artifact.snapshot" :payload (:path "poem.txt" :content "Over,\nunder.\n" :beforeAbsent t))
                 '(:type "artifact.snapshot" :payload (:path "poem.txt" :content "Over,\nunder,\nlocked.\n")))
  (append-events thread turn `(:type "message.created" :payload (:role "assistant" :content ,big)))
  (let* ((checkpoints (plist-get (ask :agentSession/fileCheckpoint/list `(:sessionId ,thread)) :checkpoints))
         (which `(:sessionId ,thread :checkpointId ,(plist-get (aref checkpoints 0) :checkpointId)))
         (got (ask :agentSession/fileCheckpoint/get which))
         (diff (plist-get (ask :agentSession/fileCheckpoint/diff which) :diff))
         (items (plist-get (ask :thread/items/list `(:threadId ,thread)) :data))
         (said (cl-some (lambda (row)
                          (let ((item (plist-get row :item)))
                            (and (equal (plist-get item :type) "agentMessage") (plist-get item :text))))
                        items)))
    ;; jsonrpc.el has no call for it: what eglot does is to send the notification with the id that it gave
    (progn
      (jsonrpc-async-request connection :thread/replay `(:threadId ,thread :speed 0.0001)
                             :success-fn (lambda (_) (setq refused "it was not cancelled"))
                             :error-fn (jsonrpc-lambda (&key code &allow-other-keys) (setq refused code)))
      (jsonrpc-notify connection :$/cancelRequest `(:id ,(jsonrpc--next-request-id connection)))
      (while (not refused) (accept-process-output nil 0.1)))
    (let* ((done (append-events thread turn '(:type "turn.completed" :payload nil)))
           (_ (while (not (memq 'turn/completed heard)) (accept-process-output nil 0.1)))
           (status (ask :server/status nil))
           (mine (cl-find (plist-get hello :bootId) (plist-get status :processes)
                          :key (lambda (one) (plist-get one :bootId)) :test #'equal)))
      (princ
       (decode-coding-string
        (json-serialize
         `(:name "Emacs jsonrpc.el" :version ,(format "Emacs %s" emacs-version) :framing "Content-Length"
           :facts (:server ,(plist-get (plist-get hello :serverInfo) :title)
                   :versions ,(vconcat (mapcar (lambda (one) (plist-get one :versionNo)) checkpoints))
                   :content ,(plist-get got :content)
                   :unified ,(plist-get diff :unified)
                   :bigIsWhole ,(if (equal said big) t :false)
                   :bigBytes ,(string-bytes said)
                   :cancelled ,refused
                   :lastSequence ,(plist-get (aref (plist-get done :events) 0) :sequence)
                   :heard ,(vconcat (cl-remove-if-not
                                     (lambda (name) (memq (intern name) heard))
                                     '("thread/started" "turn/started" "item/completed" "turn/completed")))
                   :pid ,(plist-get mine :pid))))
        'utf-8))
      (terpri))))
(delete-process (jsonrpc--process connection))
(kill-emacs 0)
